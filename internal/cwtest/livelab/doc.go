// Package livelab holds the tests of the live streams against the real server
// over the real store: many readers, some of which stand still, come late, are
// cut or lose their daemon. Everything they read was written through the store;
// nothing is published by a test.
package livelab
