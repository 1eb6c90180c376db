// Responds to every path; to /slow?ms=N after N milliseconds, to /large with 1 MiB. Serves HTTP/1.1 and HTTP/2 without TLS, and stops on SIGTERM as net/http documents it.
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
	if r.URL.Path == "/large" {
		w.Write(make([]byte, 1<<20))
		return
	}
	w.Write([]byte("hello\n"))
}

func main() {
	server := &http.Server{Addr: ":8080", Handler: http.HandlerFunc(answer), IdleTimeout: 75 * time.Second}
	server.Protocols = new(http.Protocols)
	server.Protocols.SetHTTP1(true)
	server.Protocols.SetUnencryptedHTTP2(true)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM)
	stopped := make(chan struct{})
	go func() {
		<-signals
		server.Shutdown(context.Background())
		close(stopped)
	}()
	if err := server.ListenAndServe(); err != http.ErrServerClosed {
		println(err.Error())
		os.Exit(1)
	}
	<-stopped
}
