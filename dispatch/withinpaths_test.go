package dispatch_test

import (
	"strings"
	"testing"
	"time"

	"cw/internal/cw"
)

// outside makes a task whose agent changes files that are not in its paths.
func (y *yard) outside(phase string, kind cw.TaskType, policy cw.OutsidePolicy) cw.TaskID {
	y.Helper()
	task := y.task(y.phase(phase), "one", func(r *cw.CreateTaskRequest) { r.Paths, r.Type = []string{"docs/**"}, kind })
	y.pass(soon)
	y.repos.special("base", cw.ProjectFileView{Trusted: true, File: cw.ProjectFile{OutsidePaths: policy}})
	v, err := y.db.AgentView(y.Context(), string(y.taskNow(task).AgentID))
	y.need(err)
	y.repos.changing("agent/"+v.Alias+"-1", "docs/a.md", "src/x.go", "go.mod")
	y.repos.changing("agent/"+v.Alias+"-2", "docs/a.md")
	y.works(task)
	return task
}

const twoOutside = "changed 2 files outside its paths: go.mod, src/x.go"

// TestOutsideWarns: work outside the paths of its task is merged, and flagged.
func TestOutsideWarns(t *testing.T) {
	t.Parallel()
	for _, policy := range []cw.OutsidePolicy{"", cw.OutsideWarn} {
		inYard(t, func(y *yard) {
			y.open()
			_, end := y.daemon()
			defer end()
			task := y.outside("Ground", cw.TaskAuto, policy)
			y.pass(soon)
			done := y.wantTask(task, cw.TaskDone)
			if done.Outside == nil || done.Outside.Text() != twoOutside {
				t.Errorf("it is flagged with %+v", done.Outside)
			}
			if n := y.events(cw.EventTaskOutside); n != 1 {
				t.Errorf("it was told %d times", n)
			}
		})
	}
}

// TestOutsideRefuses: where the project says so, such work waits for a person: the
// agent puts the files back, or the paths are widened or dropped.
func TestOutsideRefuses(t *testing.T) {
	t.Parallel()
	for name, act := range map[string]func(y *yard, task cw.TaskID){
		"put back": func(y *yard, task cw.TaskID) {
			y.need(y.crew.GoOn(y.Context(), y.taskNow(task).AgentID))
			y.pass(soon)
			y.works(task)
		},
		"widened": func(y *yard, task cw.TaskID) {
			_, err := y.EditTask(y.Context(), task, cw.TaskEdit{Paths: &[]string{"docs/**", "src", "go.mod"}})
			y.need(err)
		},
		"dropped": func(y *yard, task cw.TaskID) {
			_, err := y.EditTask(y.Context(), task, cw.TaskEdit{Paths: &[]string{}})
			y.need(err)
		},
	} {
		inYard(t, func(y *yard) {
			y.open()
			_, end := y.daemon()
			defer end()
			task := y.outside("Ground", cw.TaskAuto, cw.OutsideRefuse)
			y.pass(time.Minute)
			held := y.wantTask(task, cw.TaskVerifying)
			m := y.mergeNow(task)
			if m.WaitCode != cw.WaitProject || !strings.Contains(m.Wait, twoOutside) || !strings.Contains(m.Wait, "cw task edit "+string(task)) || !strings.Contains(m.Wait, "cw agent resume ") {
				t.Errorf("%s: it waits (%s) for %q", name, m.WaitCode, m.Wait)
			}
			if held.Outside == nil || held.Outside.Total != 2 || y.events(cw.EventTaskOutside) != 1 || len(y.repos.moved()) > 0 || len(y.crew.checked()) > 0 {
				t.Errorf("%s: flagged with %+v, told %d times, %d merged", name, held.Outside, y.events(cw.EventTaskOutside), len(y.repos.moved()))
			}
			act(y, task)
			y.pass(20 * time.Second)
			if done := y.wantTask(task, cw.TaskDone); done.Outside != nil {
				t.Errorf("%s: it is still flagged with %+v", name, done.Outside)
			}
		})
	}
}

// TestOutsideIsSeenBefore: who looks at a result sees what lies outside before it
// is merged, and an agent that begins anew begins without.
func TestOutsideIsSeenBefore(t *testing.T) {
	t.Parallel()
	inYard(t, func(y *yard) {
		y.open()
		_, end := y.daemon()
		defer end()
		task := y.outside("Ground", cw.TaskCheckpointVerify, cw.OutsideWarn)
		y.pass(soon)
		if looked := y.wantTask(task, cw.TaskVerifying); looked.Outside == nil || looked.Outside.Text() != twoOutside {
			t.Errorf("it is flagged with %+v", looked.Outside)
		}
		status := cw.TaskPending
		_, err := y.EditTask(y.Context(), task, cw.TaskEdit{Status: &status})
		y.need(err)
		y.pass(soon)
		if again := y.wantTask(task, cw.TaskRunning); again.Outside != nil {
			t.Errorf("the next agent begins with %+v", again.Outside)
		}
	})
}
