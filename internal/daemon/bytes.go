package daemon

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Bytes is a size of something on a disk.
type Bytes int64

// The units, each 1024 times the one before.
const (
	kib Bytes = 1 << 10
	mib       = kib << 10
	gib       = mib << 10
	tib       = gib << 10
)

// byteUnits are the units by their names, the largest first.
func byteUnits() []struct {
	name string
	size Bytes
} {
	return []struct {
		name string
		size Bytes
	}{{"TiB", tib}, {"GiB", gib}, {"MiB", mib}, {"KiB", kib}}
}

// bytesOf is the form of a size.
func bytesOf(least, most Bytes) Form {
	said := fmt.Sprintf("a size like 512MiB or 10GiB, from %s to %s", least, most)
	return Form{"size", said, func(word string) (any, error) {
		n, err := parseBytes(word)
		if err != nil || n < least || n > most {
			return nil, fmt.Errorf("is not %s", said)
		}
		return n, nil
	}}
}

// parseBytes reads a whole number with a unit. One without is wrong: people mean
// different things by it.
func parseBytes(word string) (Bytes, error) {
	for _, u := range byteUnits() {
		digits, ok := strings.CutSuffix(word, u.name)
		if !ok {
			continue
		}
		n, err := strconv.ParseUint(strings.TrimSpace(digits), 10, 63)
		if err != nil || n > uint64(math.MaxInt64/u.size) {
			return 0, fmt.Errorf("%q is no size", word)
		}
		return Bytes(n) * u.size, nil
	}
	if word == "0" {
		return 0, nil
	}
	return 0, fmt.Errorf("%q has no unit", word)
}

// String is the size in the largest unit in which it is whole.
func (b Bytes) String() string {
	for _, u := range byteUnits() {
		if b != 0 && b%u.size == 0 {
			return strconv.FormatInt(int64(b/u.size), 10) + u.name
		}
	}
	return strconv.FormatInt(int64(b), 10)
}
