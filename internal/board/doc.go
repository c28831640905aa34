// Package board draws the terminal board: what waits for a person, who works and
// at what. It is pure: a View goes in, lines of exactly the asked width come out.
// What happens with keys and services is in internal/board/live.
package board
