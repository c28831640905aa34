package board

// Keys gives the sheet with all keys.
func Keys() *Sheet {
	return NewSheet("Keys", `Move
  j k ↓ ↑      down and up                 tab 1 2      inbox and agents
  space b      a page down and up          home end     first and last
  enter        open: answer, read, watch   n            next thing that waits
  g            groups on and off           /            filter both lists
  x            select for stop             q Esc        back; q quits the board

Answer
  a            answer                      1 2 3 4      pick an option
  j k          choose an option            x            several, where they may be
  o            in your own words           enter        send
  r            read a long question whole
  y            accept; a checkpoint is done
  d            dismiss; a checkpoint is not done, with the reason

Agents
  m            message                     r            what it changed
  s            stop; asks when work is not committed
  f            hold the log, or follow     ctrl+c       quit from everywhere

Quitting the board stops nothing: agents go on working.
`, false)
}
