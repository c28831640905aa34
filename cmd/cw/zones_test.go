package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

// TestZonesAreInTheProgram: providers name time zones, and not every machine
// knows them.
func TestZonesAreInTheProgram(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	zone := strings.Join([]string{"America", "Argentina", "Catamarca"}, "/") // so that this file does not have it
	if !bytes.Contains(program, []byte(zone)) {
		t.Errorf("%s is not in it", zone)
	}
}
