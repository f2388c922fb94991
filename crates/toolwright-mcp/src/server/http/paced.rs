//! Closes a connection whose client reads too slowly.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep};

/// A stream whose peer must read a minimum number of bytes in each period in which data is waiting.
pub(super) struct Paced<S> {
    stream: S,
    period: Duration,
    /// The minimum number of bytes read in a period.
    min_bytes: usize,
    /// The current period, or `None` while no data is waiting.
    current: Option<Period>,
}

struct Period {
    end: Pin<Box<Sleep>>,
    bytes: usize,
}

impl<S> Paced<S> {
    /// Creates a stream that fails with [`io::ErrorKind::TimedOut`] if the peer reads nothing in a period, or fewer than
    /// `rate` bytes per second on average.
    pub(super) fn new(stream: S, period: Duration, rate: usize) -> Self {
        let millis = usize::try_from(period.as_millis()).unwrap_or(usize::MAX);
        let min_bytes = (rate.saturating_mul(millis) / 1000).max(1);
        Self { stream, period, min_bytes, current: None }
    }

    /// Counts the written bytes. If nothing could be written, checks the rate at the end of each period.
    fn check_rate(
        &mut self,
        written: Poll<io::Result<usize>>,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<usize>> {
        if let Poll::Ready(written) = written {
            if let (Some(current), Ok(bytes)) = (&mut self.current, &written) {
                current.bytes += bytes;
            }
            return Poll::Ready(written);
        }
        let current = self.current.get_or_insert_with(|| Period {
            end: Box::pin(tokio::time::sleep(self.period)),
            bytes: 0,
        });
        while current.end.as_mut().poll(context).is_ready() {
            if current.bytes < self.min_bytes {
                return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
            }
            current.bytes = 0;
            current.end.as_mut().reset(Instant::now() + self.period);
        }
        Poll::Pending
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Paced<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.check_rate(written, context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, parts);
        self.check_rate(written, context)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    /// Ends the period, because the flush comes when no more data is waiting.
    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.current = None;
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Paced<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::time::Duration;

    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::Paced;

    /// Writes 100 bytes to a client that reads ten per second.
    async fn write_slowly(period: u64, rate: usize) -> io::Result<()> {
        let (ours, mut theirs) = tokio::io::duplex(1);
        let mut paced = Paced::new(ours, Duration::from_secs(period), rate);
        let writing = tokio::spawn(async move { paced.write_all(&[0; 100]).await });
        let reading = tokio::spawn(async move {
            while theirs.read_u8().await.is_ok() {
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        });
        let written = writing.await.unwrap();
        reading.abort();
        written
    }

    #[tokio::test(start_paused = true)]
    async fn only_a_reader_below_the_minimum_rate_times_out() {
        for (period, rate) in [(1, 20), (5, 11), (5, usize::MAX)] {
            let error = write_slowly(period, rate).await.unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::TimedOut, "{period} {rate}");
        }
        for (period, rate) in [(1, 5), (5, 9), (1, 0), (20, 1000)] {
            let written = write_slowly(period, rate).await;
            written.unwrap_or_else(|error| panic!("{period} {rate}: {error}"));
        }
    }
}
