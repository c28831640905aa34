package store

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// SQLite does not notice a bit that the disk turned inside a value, nor a
// write-ahead log that somebody removed. So the state has a seal: a small file
// beside it that says what the database file is like at rest. In write-ahead
// mode that file changes in checkpoints alone, so these are made by cw itself:
// the seal is broken, pages are copied, and a new one is written. After any
// death of the process the file is as its seal says, or has none.

const (
	sealVersion = 1
	// sealPage is the part of the file that has one sum: a page of SQLite.
	sealPage = 4096
	// sealMax is the size up to which a database is sealed: to write a seal the
	// whole file is read.
	sealMax = inspectMax
	// sealEvery is how many transactions there are between two checkpoints.
	sealEvery = 128
	// sealLong is how many there are at least while the write-ahead log is longer
	// than what is kept of it: large transactions must not fill a small disk.
	sealLong = 8
)

// seal is what is known of a database file at rest.
type seal struct {
	Version int   `json:"version"`
	Size    int64 `json:"size"`
	// Pages holds four bytes for each page, its CRC-32C: a recovery reads the
	// pages that are as they were, and no others.
	Pages []byte `json:"pages"`
	// Open: the database is in use, and its write-ahead log holds something.
	Open bool   `json:"open"`
	Boot string `json:"boot,omitempty"` // of the machine, while it is open
}

func sealPath(path string) string { return path + "-seal" }

// checkSeal holds a database that nobody has open against its seal.
func checkSeal(path, boot string) error {
	data, err := os.ReadFile(sealPath(path))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var s seal
	// One that cannot be read says nothing: a power cut may leave it empty.
	if err != nil || json.Unmarshal(data, &s) != nil || s.Version != sealVersion {
		return nil
	}
	pages, size, err := sumFile(path)
	if again, againErr := os.ReadFile(sealPath(path)); againErr != nil || !bytes.Equal(again, data) {
		return nil // another process has it open
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return damaged(path).Because(errors.New("it is gone, but it was in use"))
	case err != nil:
		return nil // what is wrong with it is told by whoever opens it
	case size != s.Size:
		return damaged(path).Because(fmt.Errorf("something changed it while cw did not: it has %d bytes, and had %d", size, s.Size))
	case !bytes.Equal(pages, s.Pages):
		return damaged(path).Because(fmt.Errorf("something changed it while cw did not: %d of its %d pages", len(changedPages(pages, s.Pages)), len(pages)/4))
	case s.Open:
		if err := checkWAL(path, boot != "" && boot == s.Boot); err != nil {
			return damaged(path).Because(err)
		}
	}
	return nil
}

// sumFile gives the sums of all pages of a file.
func sumFile(path string) (pages []byte, size int64, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	table, page := crc32.MakeTable(crc32.Castagnoli), make([]byte, sealPage)
	in := bufio.NewReaderSize(f, 1<<20)
	for {
		n, err := io.ReadFull(in, page)
		if n > 0 {
			pages = binary.BigEndian.AppendUint32(pages, crc32.Checksum(page[:n], table))
			size += int64(n)
		}
		switch {
		case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
			return pages, size, nil
		case err != nil:
			return nil, 0, err
		}
	}
}

// changedPages are the numbers, from 0, of the pages whose sums differ.
func changedPages(now, before []byte) []int {
	var out []int
	for at := 0; at < len(now); at += 4 {
		if at+4 > len(before) || !bytes.Equal(now[at:at+4], before[at:at+4]) {
			out = append(out, at/4)
		}
	}
	return out
}

// breakSeal must be durable before the first page is copied: an old seal that a
// power cut brings back would call a good database damaged.
func breakSeal(path string) error {
	err := os.Remove(sealPath(path))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return errors.Join(err, syncPath(filepath.Dir(path)))
}

func writeSeal(path string, open bool, boot string) error {
	pages, size, err := sumFile(path)
	if err != nil || size > sealMax {
		return err
	}
	s := seal{Version: sealVersion, Size: size, Pages: pages, Open: open}
	if open {
		s.Boot = boot
	}
	data, err := json.Marshal(s)
	if err != nil {
		return err
	}
	half := sealPath(path) + ".half"
	err = os.WriteFile(half, append(data, '\n'), 0o600)
	if err == nil {
		err = os.Rename(half, sealPath(path))
	}
	if err != nil {
		return errors.Join(err, os.RemoveAll(half))
	}
	return nil
}

// beginSealing makes sure that the write-ahead log holds something from now on,
// and writes the first seal. On a full disk what there is stays right.
func (d *database) beginSealing(ctx context.Context) error {
	_, err := d.writer.ExecContext(ctx, "PRAGMA user_version = 1")
	if err == nil {
		err = d.checkpoint(ctx)
	}
	if diskFull(err) || errors.Is(err, syscall.ENOSPC) {
		return nil
	}
	return explain(d.path, err)
}

// checkpoint copies the write-ahead log into the file. Its caller has the turn.
// Without space for a seal there is none.
func (d *database) checkpoint(ctx context.Context) error {
	d.unsealed = 0
	if err := breakSeal(d.path); err != nil {
		return err
	}
	var busy, pages, copied int
	err := d.writer.QueryRowContext(ctx, "PRAGMA wal_checkpoint(PASSIVE)").Scan(&busy, &pages, &copied)
	if err != nil {
		return d.note(err)
	}
	return writeSeal(d.path, true, d.boot)
}

// checkpointNowAndThen is what transact does after a transaction. A failure
// is no failure of the transaction: the next checkpoint copies the same pages.
// On a full disk it waits: it would take the space that was given up for the
// next transaction.
func (d *database) checkpointNowAndThen(ctx context.Context) {
	d.unsealed++
	due := d.unsealed >= sealEvery || d.unsealed >= sealLong && d.walIsLong()
	if d.sealed && due && !d.reserve.touched() {
		_ = d.checkpoint(context.WithoutCancel(ctx)) // d.note keeps what counts
	}
}

func (d *database) walIsLong() bool {
	info, err := os.Stat(d.path + "-wal")
	return err == nil && info.Size() > stateKeep
}

// closeSealed closes the database and seals the file, unless its write-ahead
// log is still there: then the next one who opens it copies it.
func (d *database) closeSealed() error {
	err := errors.Join(breakSeal(d.path), d.reader.Close(), d.writer.Close())
	if _, walErr := os.Lstat(d.path + "-wal"); err == nil && !d.broken.Load() && errors.Is(walErr, fs.ErrNotExist) {
		return writeSeal(d.path, false, "")
	}
	return err
}
