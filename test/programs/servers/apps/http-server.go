// Answers every path; /slow?ms=N after N milliseconds. Stops on SIGTERM as net/http documents it.
package main

import (
	"context"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"
)

func answer(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/slow" {
		ms, _ := strconv.Atoi(r.URL.Query().Get("ms"))
		time.Sleep(time.Duration(ms) * time.Millisecond)
	}
	w.Write([]byte("hello\n"))
}

func main() {
	server := &http.Server{Addr: ":8080", Handler: http.HandlerFunc(answer), IdleTimeout: 75 * time.Second}
	told := make(chan os.Signal, 1)
	signal.Notify(told, syscall.SIGTERM)
	stopped := make(chan struct{})
	go func() {
		<-told
		server.Shutdown(context.Background())
		close(stopped)
	}()
	if err := server.ListenAndServe(); err != http.ErrServerClosed {
		println(err.Error())
		os.Exit(1)
	}
	<-stopped
}
