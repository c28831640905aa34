package worktree

import (
	"bytes"
	"encoding/binary"
	"io"
	"os"

	"cw/internal/safefile"
)

// indexMagic is how every index begins.
const indexMagic = "DIRC"

// isJunkIndex tells whether something is where the index belongs that is none:
// git would do nothing in the worktree.
func isJunkIndex(path string) bool {
	info, err := os.Lstat(path)
	if err != nil {
		return false // without one git makes one
	}
	if !info.Mode().IsRegular() {
		return true
	}
	f, err := safefile.Open(path)
	if err != nil {
		return false // the permissions are somebody's business: git says it
	}
	defer f.Close()
	begin := make([]byte, len(indexMagic))
	_, err = io.ReadFull(f, begin)
	return err != nil || string(begin) != indexMagic
}

// trustworthyIndex tells whether an index that an agent wrote may be used to
// find out what changed. Not when it is damaged, and not when it makes git look
// away: entries marked assume-unchanged or skip-worktree, an index split over
// several files, or a sparse one. hashSize is 20 or 32 bytes.
//
// The format is gitformat-index(5), versions 2 to 4.
func trustworthyIndex(data []byte, hashSize int) bool {
	const header = 12
	if len(data) < header+hashSize || string(data[:4]) != indexMagic {
		return false
	}
	version, count := binary.BigEndian.Uint32(data[4:]), binary.BigEndian.Uint32(data[8:])
	if version < 2 || version > 4 {
		return false
	}
	rest := data[header : len(data)-hashSize]
	for range count {
		size, plain := entrySize(rest, version, hashSize)
		if size == 0 || !plain {
			return false
		}
		rest = rest[size:]
	}
	return plainExtensions(rest)
}

// entrySize measures the first entry, 0 when it is damaged. plain is false when
// the entry asks git not to look at its file.
func entrySize(b []byte, version uint32, hashSize int) (size int, plain bool) {
	const (
		statSize        = 40
		assumeUnchanged = 0x8000
		extended        = 0x4000
		skipWorktree    = 0x4000
	)
	fixed := statSize + hashSize + 2
	if len(b) < fixed {
		return 0, false
	}
	flags := binary.BigEndian.Uint16(b[fixed-2:])
	plain = flags&assumeUnchanged == 0
	if flags&extended != 0 {
		if version < 3 || len(b) < fixed+2 {
			return 0, false
		}
		plain = plain && binary.BigEndian.Uint16(b[fixed:])&skipWorktree == 0
		fixed += 2
	}
	if version == 4 {
		// The name: how much of the last one to drop (a varint), then the rest.
		for fixed < len(b) && b[fixed]&0x80 != 0 {
			fixed++
		}
		fixed++
	}
	if fixed >= len(b) {
		return 0, false
	}
	end := bytes.IndexByte(b[fixed:], 0)
	if end < 0 {
		return 0, false
	}
	size = fixed + end + 1
	if version < 4 {
		size = (fixed + end + 8) &^ 7 // one to eight zeros up to a multiple of eight
	}
	if size > len(b) {
		return 0, false
	}
	return size, plain
}

// plainExtensions refuses the two that move entries elsewhere: "link" (split
// index) and "sdir" (sparse index).
func plainExtensions(b []byte) bool {
	for len(b) > 0 {
		if len(b) < 8 {
			return false
		}
		name, size := string(b[:4]), uint64(binary.BigEndian.Uint32(b[4:]))
		if name == "link" || name == "sdir" || size > uint64(len(b)-8) {
			return false
		}
		b = b[8+size:]
	}
	return true
}
