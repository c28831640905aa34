// Package redact masks live secrets, and their usual encodings, in everything
// that is about to be stored.
//
// A mask is as long as what it covers, so offsets into output stay true. Which
// bytes are masked depends on the bytes alone and not on how they were cut into
// pieces: a byte is masked when an occurrence of a secret covers it.
//
// The package must not know whose the secrets are.
package redact
