package dispatch

import "cw/internal/cw"

// Admit decides whether the machine has room for one more agent of a provider that
// somebody asks for by hand, beside those that work: as for tasks, it is started
// only with enough space on the disk and enough memory, except that alone it may
// always try. Others take what is missing to the most that one of their provider
// was seen to need. It gives the reason why not; nil when it is started.
func Admit(r Room, working []cw.TaskAgent, provider string) *cw.WaitReason {
	free := r.FreeMemory - r.Reserve
	for _, a := range working {
		if r.Peaks[a.Provider] > 0 { // else nothing is known of it, and it has what it has
			free -= r.grows(a)
		}
	}
	why := r.short(provider, free, len(working) == 0)
	if why != nil && why.Hint == "" {
		why.Hint = "wait until an agent is done, or stop one: cw agent list --status running; dispatch.keepFree says how much memory is kept"
	}
	return why
}

// short tells why an agent of a provider is not started for want of space on the
// disk or of memory; nil when there is enough. free is the memory that is left for
// it, and alone that nobody else works.
func (r Room) short(provider string, free int64, alone bool) *cw.WaitReason {
	if r.DiskLow != "" {
		return reason(cw.WaitResources, "free some space: cw gc", "%s", r.DiskLow)
	}
	need := r.peak(provider)
	if r.FreeMemory == 0 || free >= need || alone {
		return nil
	}
	return reason(cw.WaitResources, "", "%d MiB of memory are free beside what is kept, an agent of %s needs %d MiB", max(free, 0)>>20, provider, need>>20)
}
