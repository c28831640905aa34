package parsers

import (
	"bytes"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
)

// Limits of what mutations gives of one recording, so that large ones do not
// take long.
const (
	mutatedCuts  = 30 // cuts inside lines
	mutatedLines = 20 // of each mutation that is made line by line
)

// strangers are lines that no CLI writes, or writes one day.
var strangers = []string{
	`{"type":"a_new_thing","is_error":false,"result":"done","usage":{"input_tokens":9}}`,
	`{"type":7,"subtype":[],"event":"x","data":null,"message":3}`,
	`Error: not JSON at all`,
	`{}`, `[]`, `null`, `"done"`, `0`, `{"type":`, "\x00", "\xff\xfe",
}

// mutations gives a recording in broken forms, each with a name that says what
// was done: cut at a line's end and inside lines, lines twice, lines in another
// order, lines left out, lines that are not known, bytes that are no UTF-8, and
// CR LF. The same source of chance gives the same forms. The data stays as it is.
func mutations(data []byte, rng *rand.Rand) iter.Seq2[string, []byte] {
	lines := slices.DeleteFunc(bytes.SplitAfter(data, []byte("\n")), func(l []byte) bool { return len(l) == 0 })
	return func(yield func(string, []byte) bool) {
		for _, kind := range []iter.Seq2[string, []byte]{
			cutForms(data, lines, rng), lineForms(lines, rng), wholeForms(data, lines, rng),
		} {
			for name, form := range kind {
				if !yield(name, form) {
					return
				}
			}
		}
	}
}

// cutForms ends the recording early, as a death of the CLI does.
func cutForms(data []byte, lines [][]byte, rng *rand.Rand) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		for n := range some(len(lines), rng) {
			if !yield(fmt.Sprintf("cut after line %d", n), bytes.Join(lines[:n], nil)) {
				return
			}
		}
		for range min(mutatedCuts, len(data)) {
			at := rng.IntN(len(data))
			if !yield(fmt.Sprintf("cut at byte %d", at), data[:at:at]) {
				return
			}
		}
	}
}

// lineForms does something to single lines.
func lineForms(lines [][]byte, rng *rand.Rand) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		for n := range some(len(lines), rng) {
			other := rng.IntN(len(lines))
			stranger := []byte(strangers[rng.IntN(len(strangers))] + "\n")
			swapped := slices.Clone(lines)
			swapped[n], swapped[other] = ended(swapped[other]), ended(swapped[n])
			spoiled := bytes.Clone(lines[n])
			spoiled[rng.IntN(len(spoiled))] = 0xff // the line end, now and then: two lines become one
			forms := map[string][][]byte{
				"line %d twice":          slices.Insert(slices.Clone(lines), n, ended(lines[n])),
				"line %d swapped":        swapped,
				"line %d left out":       slices.Delete(slices.Clone(lines), n, n+1),
				"a stranger at line %d":  slices.Insert(slices.Clone(lines), n, stranger),
				"no UTF-8 in line %d":    slices.Replace(slices.Clone(lines), n, n+1, spoiled),
				"half of line %d":        slices.Replace(slices.Clone(lines), n, n+1, ended(lines[n][:len(lines[n])/2])),
				"line %d without an end": slices.Replace(slices.Clone(lines), n, n+1, bytes.TrimRight(lines[n], "\r\n")),
			}
			for _, name := range slices.Sorted(maps.Keys(forms)) {
				if !yield(fmt.Sprintf(name, n), bytes.Join(forms[name], nil)) {
					return
				}
			}
		}
	}
}

// wholeForms does something to all lines.
func wholeForms(data []byte, lines [][]byte, rng *rand.Rand) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		backwards, shuffled := make([][]byte, len(lines)), make([][]byte, len(lines))
		for i, line := range lines {
			backwards[i], shuffled[i] = ended(line), ended(line)
		}
		slices.Reverse(backwards)
		rng.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		_ = yield("CR LF", bytes.ReplaceAll(data, []byte("\n"), []byte("\r\n"))) &&
			yield("blank lines between", bytes.ReplaceAll(data, []byte("\n"), []byte("\n\n \n"))) &&
			yield("no last line end", bytes.TrimRight(data, "\r\n")) &&
			yield("backwards", bytes.Join(backwards, nil)) &&
			yield("shuffled", bytes.Join(shuffled, nil))
	}
}

// some gives up to mutatedLines of the numbers below n, in order.
func some(n int, rng *rand.Rand) iter.Seq[int] {
	chosen := rng.Perm(n)[:min(n, mutatedLines)]
	slices.Sort(chosen)
	return slices.Values(chosen)
}

// ended gives the line with a line end.
func ended(line []byte) []byte {
	return append(bytes.TrimRight(bytes.Clone(line), "\r\n"), '\n')
}
