// The server listens on all addresses otherwise.
const { Server } = require("node:net");
const { listen } = Server.prototype;
Server.prototype.listen = function (port, ready) {
  return listen.call(this, port, "127.0.0.1", ready);
};
