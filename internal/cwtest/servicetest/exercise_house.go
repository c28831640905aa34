package servicetest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"cw/internal/cw"

	"github.com/google/go-cmp/cmp"
)

// projectSettingsCase: what is named changes, what is not stays, and what is no
// setting changes nothing.
func projectSettingsCase(t *testing.T, f Fixture) {
	s := f.Services
	p, err := s.AddProject(soon(t), cw.ProjectRequest{Path: f.Repo})
	ok(t, err)
	if p.Stall != cw.StallEvent || p.AutoResume || p.AgentSpawn != 0 {
		t.Errorf("a new project has the policies %q, %v and %d", p.Stall, p.AutoResume, p.AgentSpawn)
	}
	resume, odd, yes := cw.StallResume, cw.StallPolicy("wait"), true
	below, endless, deep := -1, cw.AgentSpawnMax+1, cw.AgentSpawnMax
	chain, twice, nobody := []string{"claude", "codex"}, []string{"claude", "claude"}, []string{"claude", unknown}
	_, err = s.SetProject(soon(t), p.Name, cw.ProjectSettings{Fallback: &nobody})
	wantCode(t, "SetProject to a provider that is none", err, cw.CodeNotFound)
	for what, bad := range map[string]cw.ProjectSettings{
		"nothing": {}, "an odd policy": {Stall: &odd, AutoResume: &yes}, "a provider twice": {Fallback: &twice}, "no provider": {Fallback: &[]string{""}},
		"agents below nobody": {AgentSpawn: &below}, "agents without an end": {AgentSpawn: &endless},
	} {
		_, err := s.SetProject(soon(t), p.Name, bad)
		wantHint(t, "SetProject to "+what, err, cw.CodeInvalid, "")
	}
	first, err := s.SetProject(soon(t), p.Path, cw.ProjectSettings{Stall: &resume, Fallback: &chain})
	ok(t, err)
	second, err := s.SetProject(soon(t), string(p.ID), cw.ProjectSettings{AutoResume: &yes, AgentSpawn: &deep})
	ok(t, err)
	if first.Stall != cw.StallResume || first.AutoResume || second.Stall != cw.StallResume || !second.AutoResume || first.AgentSpawn != 0 || second.AgentSpawn != deep || second.ID != p.ID {
		t.Errorf("set: %+v, then %+v", first, second)
	}
	if p.Fallback == nil || len(p.Fallback) != 0 || !slices.Equal(second.Fallback, chain) {
		t.Errorf("falls back to %q at first, then to %q", p.Fallback, second.Fallback)
	}
	got, err := s.Project(soon(t), p.Name)
	ok(t, err)
	if diff := cmp.Diff(second, got); diff != "" {
		t.Errorf("as it is stored: %s", diff)
	}
	told := collect(t, s.Events(soon(t), cw.EventQuery{Types: []cw.EventType{cw.EventProjectChanged}}))
	var last cw.ProjectPolicies
	if len(told) == 2 {
		ok(t, json.Unmarshal(told[1].Data, &last))
	}
	if diff := cmp.Diff(cw.ProjectPolicies{Name: p.Name, Stall: cw.StallResume, AutoResume: true, Fallback: chain, AgentSpawn: deep}, last); diff != "" {
		t.Errorf("%d events, the last: %s", len(told), diff)
	}
}

// garbageCase: a look says so, frees nothing, and a clean-up goes on from it.
func garbageCase(t *testing.T, f Fixture) {
	for _, dry := range []bool{true, false} {
		report, err := f.Services.CollectGarbage(soon(t), cw.GCRequest{DryRun: dry})
		ok(t, err)
		if report.DryRun != dry || report.Items == nil || report.FreedBytes < 0 {
			t.Errorf("dry %v: %+v", dry, report)
		}
		for _, item := range report.Items {
			if item.Kind == "" || item.Reason == "" {
				t.Errorf("dry %v: %+v", dry, item)
			}
		}
	}
}

// backupCase: copies are where they were asked for, and nothing is written
// over.
func backupCase(t *testing.T, f Fixture) {
	s := f.Services
	dir := t.TempDir()
	path := filepath.Join(dir, "copy ü.db")
	_, err := s.Backup(soon(t), cw.BackupRequest{Path: "copy.db"})
	wantHint(t, "Backup to no absolute path", err, cw.CodeInvalid, "")
	_, err = s.Backup(soon(t), cw.BackupRequest{})
	wantHint(t, "Backup to nowhere", err, cw.CodeInvalid, "")
	_, err = s.Backup(soon(t), cw.BackupRequest{Path: filepath.Join(dir, "no", "such", "copy.db")})
	wantHint(t, "Backup into no folder", err, cw.CodeFailed, "")
	report, err := s.Backup(soon(t), cw.BackupRequest{Path: path, Logs: true})
	ok(t, err)
	if diff := cmp.Diff([]string{path, path + ".log"}, report.Files); diff != "" {
		t.Error(diff)
	}
	size := int64(0)
	for _, file := range report.Files {
		info, err := os.Stat(file)
		ok(t, err)
		size += info.Size()
	}
	if size == 0 || size != report.Bytes {
		t.Errorf("%d bytes were told, %d are there", report.Bytes, size)
	}
	kept, err := os.ReadFile(path)
	ok(t, err)
	_, err = s.Backup(soon(t), cw.BackupRequest{Path: path})
	wantHint(t, "Backup over another", err, cw.CodeRefused, "")
	now, err := os.ReadFile(path)
	ok(t, err)
	if string(kept) != string(now) {
		t.Error("what was there is another now")
	}
	left, err := os.ReadDir(dir)
	ok(t, err)
	if len(left) != 2 {
		t.Errorf("in the folder are %v", left)
	}
}
