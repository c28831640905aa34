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
