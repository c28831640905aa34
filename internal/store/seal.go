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
	// SealMax is the size up to which a database is sealed: at a start the whole
	// file is held against its seal, which takes seconds for each GiB.
	SealMax = 1 << 30
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

// writeSeal writes the seal of the file as it is now. Of a file whose sums are
// known the pages that a checkpoint copied alone are read: nothing else writes to
// it. nil: all of them are.
func (d *database) writeSeal(copied []uint32, open bool) (err error) {
	known := d.sums
	d.sums = nil // until they are known again
	var pages []byte
	var size int64
	if known == nil || copied == nil {
		if info, err := os.Stat(d.path); err != nil || info.Size() > SealMax {
			return err
		}
		pages, size, err = sumFile(d.path)
	} else {
		pages, size, err = sumAgain(d.path, known, copied)
	}
	if err != nil || size > SealMax {
		return err
	}
	s := seal{Version: sealVersion, Size: size, Pages: pages, Open: open}
	if open {
		s.Boot = d.boot
	}
	data, err := json.Marshal(s)
	if err != nil {
		return err
	}
	half := sealPath(d.path) + ".half"
	err = os.WriteFile(half, append(data, '\n'), 0o600)
	if err == nil {
		err = os.Rename(half, sealPath(d.path))
	}
	if err != nil {
		return errors.Join(err, os.RemoveAll(half))
	}
	d.sums = pages
	return nil
}

// sumAgain gives the sums of all pages of a file of which the sums before a
// checkpoint are known, and the numbers, from 1, of the pages that it copied.
func sumAgain(path string, known []byte, copied []uint32) (pages []byte, size int64, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, 0, err
	}
	size = info.Size()
	count := int((size + sealPage - 1) / sealPage)
	pages = make([]byte, 4*count)
	had := copy(pages, known) / 4
	table, page := crc32.MakeTable(crc32.Castagnoli), make([]byte, sealPage)
	sum := func(at int) error {
		n, err := f.ReadAt(page, int64(at)*sealPage)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		binary.BigEndian.PutUint32(pages[4*at:], crc32.Checksum(page[:n], table))
		return nil
	}
	for at := had; at < count; at++ {
		if err := sum(at); err != nil {
			return nil, 0, err
		}
	}
	for _, number := range copied {
		if at := int(number) - 1; at >= 0 && at < had {
			if err := sum(at); err != nil {
				return nil, 0, err
			}
		}
	}
	return pages, size, nil
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
	numbers := walPages(d.path)
	var busy, pages, copied int
	err := d.writer.QueryRowContext(ctx, "PRAGMA wal_checkpoint(PASSIVE)").Scan(&busy, &pages, &copied)
	if err != nil {
		d.sums = nil // some may have been copied
		return d.note(err)
	}
	return d.writeSeal(numbers, true)
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
	numbers := walPages(d.path) // the last one to close copies them
	err := errors.Join(breakSeal(d.path), d.reader.Close(), d.writer.Close())
	if _, walErr := os.Lstat(d.path + "-wal"); err == nil && !d.broken.Load() && errors.Is(walErr, fs.ErrNotExist) {
		return d.writeSeal(numbers, false)
	}
	return err
}
