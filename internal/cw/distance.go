package cw

// EditDistance counts the insertions, deletions and replacements of bytes that
// make one word from another (Levenshtein). It is for hints: "did you mean …?".
// Its time grows with the product of the lengths, so callers bound them.
func EditDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

// nearestMax is how many letters a word may be away from what was meant.
const nearestMax = 2

// Nearest finds the name that was probably meant by a word that is none: the
// one with the fewest changes of a letter, at most two and at most half of the
// name.
func Nearest(word string, names []string) (string, bool) {
	best, least := "", nearestMax+1
	for _, name := range names {
		if away := len(word) - len(name); away > nearestMax || away < -nearestMax {
			continue // at least so far away: costs nothing
		}
		if d := EditDistance(word, name); d < least && 2*d <= len(name) {
			best, least = name, d
		}
	}
	return best, best != ""
}
