package orchestrator

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"cw/artifacts"
	"cw/internal/cw"
	"cw/internal/safefile"
)

// givenFile keeps in the run directory what an architect was given and may
// suggest to change, as it was then.
const givenFile = "given.json"

// givenMax is how much of such a file is read; an initiative has less.
const givenMax = 256 << 20

// keepGiven stores what a run is given.
func keepGiven(run cw.Run, in artifacts.Input) error {
	data, err := json.Marshal(in.Given())
	if err != nil {
		return fmt.Errorf("encode what the agent is given: %w", err)
	}
	if err := os.MkdirAll(run.Dir, 0o700); err != nil {
		return fmt.Errorf("make run directory: %w", err)
	}
	return writeFile(filepath.Join(run.Dir, givenFile), data)
}

// givenTo is what an agent was given in this run and in those before, newest
// first: also a session that begins anew finds what the agent wrote earlier. Runs
// of an older daemon kept nothing.
func (o *Orchestrator) givenTo(st cw.RunState) ([]artifacts.Given, error) {
	var out []artifacts.Given
	for _, dir := range append([]string{st.Run.Dir}, o.earlierRunDirs(st)...) {
		g, err := readGiven(filepath.Join(dir, givenFile))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		out = append(out, g)
	}
	return out, nil
}

func readGiven(name string) (artifacts.Given, error) {
	var g artifacts.Given
	data, err := safefile.Read(name, givenMax)
	if err != nil {
		return g, fmt.Errorf("read what the agent was given: %w", err)
	}
	if err := json.Unmarshal(data, &g); err != nil {
		return g, fmt.Errorf("read %s: %w", name, err)
	}
	return g, nil
}
