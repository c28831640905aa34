package store

import (
	"database/sql"
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"cw/internal/cw"
)

// chunkSum is stored with a chunk: SQLite does not notice a bit that the disk
// turned inside a value.
func chunkSum(c cw.Chunk) int64 {
	place := append([]byte(c.AgentID), 0)
	place = append(append(place, c.AgentName...), 0)
	place = binary.AppendVarint(place, int64(c.SessionNumber))
	place = binary.AppendVarint(place, c.Offset)
	table := crc32.MakeTable(crc32.Castagnoli) // made once by the library
	return int64(crc32.Update(crc32.Checksum(place, table), table, c.Bytes))
}

// checkStored holds a chunk that was read against its sum, and against the ones
// read before it: each begins where the last of its session ended.
func checkStored(c cw.Chunk, sum sql.NullInt64, before []cw.Chunk) error {
	if sum.Valid && sum.Int64 != chunkSum(c) {
		return fmt.Errorf("output of %s in session %d at %d is not what was stored", c.AgentName, c.SessionNumber, c.Offset)
	}
	if len(before) == 0 {
		return nil
	}
	if last := before[len(before)-1]; last.SessionNumber == c.SessionNumber && last.End() != c.Offset {
		return fmt.Errorf("output of %s in session %d is missing from %d to %d", c.AgentName, c.SessionNumber, last.End(), c.Offset)
	}
	return nil
}
