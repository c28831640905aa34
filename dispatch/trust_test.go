package dispatch_test

import (
	"strings"
	"testing"
	"time"

	"cw/internal/cw"
)

// TestMergeWaitsForTrust: work that changes what is run waits for a person's
// trust. Its reason can be read at any moment, is logged once, and is no event;
// other work goes first.
func TestMergeWaitsForTrust(t *testing.T) {
	t.Parallel()
	inYard(t, func(y *yard) {
		y.open()
		ph := y.phase("Ground")
		first, second := y.task(ph, "first"), y.task(ph, "second")
		_, end := y.daemon()
		defer end()
		y.pass(soon)
		v, err := y.db.AgentView(y.Context(), string(y.taskNow(first).AgentID))
		y.need(err)
		y.repos.special("agent/"+v.Alias+"-1", cw.ProjectFileView{Trusted: false})
		y.works(first)
		y.pass(soon)
		y.works(second)
		y.pass(restTime)
		y.wantTask(second, cw.TaskDone)
		for range 120 {
			y.pass(time.Second)
			m := y.mergeNow(first)
			if m.Status != cw.MergeQueued || m.WaitCode != cw.WaitProject || !strings.Contains(m.Wait, "nobody has trusted") || !strings.Contains(m.Wait, "cw project trust shop --ref "+m.Parts[0].Commit) {
				t.Fatalf("the merge is %s and waits (%s) for %q", m.Status, m.WaitCode, m.Wait)
			}
		}
		if n := y.log.count("ERROR"); n > 0 || y.log.count("WARN a merge is held up") != 2 { // once more when the branch had moved on
			t.Errorf("%d errors are logged:\n%s", n, y.log)
		}
		if n := y.events(cw.EventMergeChecking); n != 1 {
			t.Errorf("%d times something was told to be checked", n)
		}
		y.repos.trust()
		y.pass(20 * time.Second)
		y.wantTask(first, cw.TaskDone)
		if m := y.mergeNow(first); m.Wait != "" || m.WaitCode != "" {
			t.Errorf("it is merged, and waits for %q", m.Wait)
		}
	})
}

// TestMergeBreaksProjectFile: work after which cw.yaml cannot be used goes back to
// its agent like any that is red, and after that to a person.
func TestMergeBreaksProjectFile(t *testing.T) {
	t.Parallel()
	inYard(t, func(y *yard) {
		y.open()
		task := y.task(y.phase("Ground"), "one")
		_, end := y.daemon()
		defer end()
		y.pass(soon)
		v, err := y.db.AgentView(y.Context(), string(y.taskNow(task).AgentID))
		y.need(err)
		for n := 1; n <= 3; n++ {
			y.repos.special("agent/"+v.Alias+"-"+string(rune('0'+n)), cw.ProjectFileView{Problem: "line 3: no such key"})
			y.works(task)
			y.pass(soon)
			if m := y.mergeNow(task); m.Status != cw.MergeRed || m.Reds != n || !strings.Contains(m.Evidence, "line 3: no such key") {
				t.Fatalf("the merge is %s after %d: %+v", m.Status, n, m)
			}
		}
		if blocked := y.wantTask(task, cw.TaskBlocked); !strings.Contains(blocked.Blocked, "line 3: no such key") || len(y.crew.woken) != 2 {
			t.Errorf("its agent was woken %d times, and it is blocked: %q", len(y.crew.woken), blocked.Blocked)
		}
		if len(y.crew.checked()) > 0 {
			t.Error("something was run by a file that cannot be used")
		}
	})
}

// TestMergeVerdict: a result at which a person looks waits for that one word.
func TestMergeVerdict(t *testing.T) {
	t.Parallel()
	inYard(t, func(y *yard) {
		y.open()
		task := y.task(y.phase("Ground"), "one", func(r *cw.CreateTaskRequest) { r.Type = cw.TaskCheckpointVerify })
		d, end := y.daemon()
		defer end()
		y.pass(soon)
		y.works(task)
		y.pass(time.Minute)
		if m := y.mergeNow(task); m.WaitCode != cw.WaitPerson || len(y.crew.checked()) > 0 {
			t.Errorf("it waits for %s (%s), %d checks", m.WaitCode, m.Wait, len(y.crew.checked()))
		}
		_, err := d.DecideTask(y.Context(), task, cw.TaskVerdict{Comment: "not so"})
		y.need(err)
		y.pass(soon)
		y.wantTask(task, cw.TaskRunning)
		y.works(task)
		y.pass(soon)
		_, err = d.DecideTask(y.Context(), task, cw.TaskVerdict{Accept: true})
		y.need(err)
		y.pass(soon)
		y.wantTask(task, cw.TaskDone)
		if m := y.mergeNow(task); m.WaitCode != "" || m.VerifiedBy == "" {
			t.Errorf("%+v", m)
		}
	})
}
