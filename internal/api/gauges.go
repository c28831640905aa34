package api

// OpenStreams is how many streams are open, of all callers.
func (s *Server) OpenStreams() int {
	s.seats.mu.Lock()
	defer s.seats.mu.Unlock()
	return s.seats.all
}
