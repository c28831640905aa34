package proc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/nxadm/tail"
)

// followBlock is how much is read at once while looking for the last lines.
const followBlock = 32 << 10

// FollowFile writes the last lines of a log file to w (a negative number means
// all), and with follow what is appended to it, also after it was rotated,
// until ctx ends; then the error is nil. Following may lose a line and gives a
// line only once it is finished: good enough for a log that a person reads.
//
// It is for a short-lived process: the library that follows ends the process
// when the file system answers with an unusual error.
func FollowFile(ctx context.Context, path string, lines int, w io.Writer, follow bool) error {
	end, err := copyLast(path, lines, w)
	if errors.Is(err, fs.ErrNotExist) && follow {
		end, err = 0, nil // it will come
	}
	if err != nil {
		return fmt.Errorf("read log: %w", err)
	}
	if !follow {
		return nil
	}
	t, err := tail.TailFile(path, tail.Config{
		Location:      &tail.SeekInfo{Offset: end, Whence: io.SeekStart},
		Follow:        true,
		ReOpen:        true,
		CompleteLines: true,
		Logger:        tail.DiscardingLogger,
	})
	if err != nil {
		return fmt.Errorf("follow log: %w", err)
	}
	defer t.Cleanup()
	defer func() { _ = t.Stop() }()
	for {
		select {
		case <-ctx.Done():
			return nil
		case line, ok := <-t.Lines:
			if !ok {
				return fmt.Errorf("follow log: %w", t.Err())
			}
			if _, err := io.WriteString(w, line.Text+"\n"); err != nil {
				return fmt.Errorf("follow log: %w", err)
			}
		}
	}
}

// copyLast writes the last lines of a file and says how far it read.
func copyLast(path string, lines int, w io.Writer) (end int64, err error) {
	f, err := openRegular(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	from, err := lastLines(f, info.Size(), lines)
	if err != nil {
		return 0, err
	}
	_, err = io.Copy(w, io.NewSectionReader(f, from, info.Size()-from))
	return info.Size(), err
}

// lastLines is the offset at which the last lines of a file begin. An
// unfinished line at the end counts as one.
func lastLines(f *os.File, size int64, lines int) (int64, error) {
	if lines < 0 {
		return 0, nil
	}
	if lines == 0 {
		return size, nil
	}
	buf := make([]byte, followBlock)
	for end := size; end > 0; {
		from := max(0, end-followBlock)
		b := buf[:end-from]
		if _, err := f.ReadAt(b, from); err != nil && !errors.Is(err, io.EOF) {
			return 0, err
		}
		if end == size {
			b = bytes.TrimSuffix(b, []byte("\n")) // the end of the last line
		}
		for i := len(b) - 1; i >= 0; i-- {
			if b[i] != '\n' {
				continue
			}
			if lines--; lines == 0 {
				return from + int64(i) + 1, nil
			}
		}
		end = from
	}
	return 0, nil
}
