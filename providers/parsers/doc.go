// Package parsers turns the output of provider CLIs into stream events: one
// file per output format, and the parts that all formats share.
//
//	bytes ─► Splitter ─► lines ─► Parser ─► cw.StreamEvent ─► Summary
//
// Reading ties the first two together. Everything here is a function of the
// bytes alone: the same bytes from the first one on give the same events,
// however they are cut, so that a reader may read silently up to any offset
// and go on from there. Nothing is ever fatal: a line that is not understood
// is counted and left to the raw output.
//
// It must not know providers' commands, processes, files or clocks.
package parsers
