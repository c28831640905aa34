package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// The form of a write-ahead log and of the index beside it is described at
// https://www.sqlite.org/walformat.html.
const (
	walHeader   = 32
	walFrame    = 24
	walMagic    = 0x377f0682 // the lowest bit says how words are read for sums
	indexHeader = 48
)

// checkWAL looks whether the write-ahead log of a database that was in use is
// there, and with sameBoot whether it holds everything that was committed:
// SQLite ends at the first frame with a wrong sum and takes the rest for never
// written. After a power cut it is right in that.
func checkWAL(path string, sameBoot bool) error {
	log, err := os.ReadFile(path + "-wal")
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(log) < walHeader {
		return errors.New("its write-ahead log is gone, with the last changes")
	}
	if err != nil {
		return err
	}
	if _, _, ok := walHead(log); !ok {
		return errors.New("the head of its write-ahead log was changed")
	}
	index, err := os.ReadFile(path + "-shm")
	if err != nil || !sameBoot || len(index) < 2*indexHeader {
		return nil // nothing tells how much was committed
	}
	head := index[:indexHeader]
	frames := int(binary.NativeEndian.Uint32(head[16:]))
	if !bytes.Equal(head, index[indexHeader:2*indexHeader]) || head[12] == 0 || frames == 0 {
		return nil
	}
	if !bytes.Equal(head[32:40], log[16:24]) {
		return errors.New("its write-ahead log is another one than the last")
	}
	if whole := wholeFrames(log, frames); whole < frames {
		return fmt.Errorf("its write-ahead log holds %d of %d pages that were committed", whole, frames)
	}
	return nil
}

// wholeFrames counts the frames from the first on that are as they were
// written, up to most.
func wholeFrames(log []byte, most int) int {
	order, page, ok := walHead(log)
	if !ok {
		return 0
	}
	a, b := walSum(order, log[:24], 0, 0)
	for n := range most {
		at := walHeader + n*(walFrame+page)
		if at+walFrame+page > len(log) {
			return n
		}
		head, data := log[at:at+walFrame], log[at+walFrame:at+walFrame+page]
		a, b = walSum(order, head[:8], a, b)
		a, b = walSum(order, data, a, b)
		if !bytes.Equal(head[8:16], log[16:24]) || a != binary.BigEndian.Uint32(head[16:]) || b != binary.BigEndian.Uint32(head[20:]) {
			return n
		}
	}
	return most
}

// walPages gives the numbers, from 1, of the pages that a checkpoint of a
// database may copy: all that its write-ahead log holds, those of earlier rounds
// too. nil: it cannot be told; none when there is no log.
func walPages(path string) []uint32 {
	f, err := os.Open(path + "-wal")
	if errors.Is(err, fs.ErrNotExist) {
		return []uint32{}
	}
	if err != nil {
		return nil
	}
	defer f.Close()
	head := make([]byte, walHeader)
	switch n, err := f.ReadAt(head, 0); {
	case n == 0 && errors.Is(err, io.EOF):
		return []uint32{}
	case err != nil || binary.BigEndian.Uint32(head[8:]) != sealPage:
		return nil
	}
	numbers := []uint32{}
	for at := int64(walHeader); ; at += walFrame + sealPage {
		n, err := f.ReadAt(head[:4], at)
		if errors.Is(err, io.EOF) && n < 4 {
			return numbers
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return nil
		}
		numbers = append(numbers, binary.BigEndian.Uint32(head))
	}
}

// walHead reads the head of a log: how words are read for sums, and the size of
// a page.
func walHead(log []byte) (order binary.ByteOrder, page int, ok bool) {
	magic := binary.BigEndian.Uint32(log)
	order, page = binary.LittleEndian, int(binary.BigEndian.Uint32(log[8:]))
	if magic&1 == 1 {
		order = binary.BigEndian
	}
	a, b := walSum(order, log[:24], 0, 0)
	ok = magic&^1 == walMagic && page >= 512 && page <= 1<<16 &&
		a == binary.BigEndian.Uint32(log[24:]) && b == binary.BigEndian.Uint32(log[28:])
	return order, page, ok
}

// walSum goes on with SQLite's sum over an even number of words.
func walSum(order binary.ByteOrder, data []byte, a, b uint32) (uint32, uint32) {
	for i := 0; i+8 <= len(data); i += 8 {
		a += order.Uint32(data[i:]) + b
		b += order.Uint32(data[i+4:]) + a
	}
	return a, b
}
