// Package live is the terminal board as a program: it reads through the services,
// follows events, turns keys into calls, and lets internal/board draw.
package live
