// Package osspecific: the published module lacks this file, and without it the executor is not built for Linux.
package osspecific

import (
	"errors"
	"os"
	"syscall"
	"time"

	argoerrors "github.com/argoproj/argo-workflows/v3/util/errors"
)

// Term is how a step is asked to end.
const Term = syscall.SIGTERM

const reapEvery = 200 * time.Millisecond

// CanIgnoreSignal tells which signals the executor meets by itself and never passes on.
func CanIgnoreSignal(s os.Signal) bool {
	switch s {
	case syscall.SIGCHLD, syscall.SIGURG:
		return true
	}
	return false
}

// Setpgid makes the step the head of a group, so that a signal reaches whatever it starts.
func Setpgid(attributes *syscall.SysProcAttr) {
	attributes.Setpgid = true
}

// Kill signals the group of a process, or the process alone when it has none.
func Kill(pid int, s syscall.Signal) error {
	if group, err := syscall.Getpgid(pid); err == nil {
		pid = -group
	}
	return syscall.Kill(pid, s)
}

// Wait waits for the step and takes along what it left behind: as process 1 of the container no one else does.
func Wait(process *os.Process) error {
	step := process.Pid
	if err := process.Release(); err != nil {
		return err
	}
	for {
		var status syscall.WaitStatus
		ended, err := syscall.Wait4(-1, &status, syscall.WNOHANG, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case err != nil:
			return err
		case ended != step:
			time.Sleep(reapEvery)
		case status.Exited():
			return argoerrors.NewExitErr(status.ExitStatus())
		case status.Signaled():
			return argoerrors.NewExitErr(128 + int(status.Signal()))
		}
	}
}
