package store

// nearest finds the name that was probably meant: the one with the fewest
// changes of a letter, when that is at most a third of the word.
func nearest(word string, names []string) (string, bool) {
	best, least := "", len(word)/3+1
	for _, name := range names {
		if d := distance(word, name); d < least {
			best, least = name, d
		}
	}
	return best, best != ""
}

// distance counts the insertions, deletions and replacements of bytes that
// make one word from another.
func distance(a, b string) int {
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
