package store

import "cw/internal/cw"

// nearest finds the name that was probably meant: the one with the fewest
// changes of a letter, when that is at most a third of the word.
func nearest(word string, names []string) (string, bool) {
	best, least := "", len(word)/3+1
	for _, name := range names {
		if d := cw.EditDistance(word, name); d < least {
			best, least = name, d
		}
	}
	return best, best != ""
}
