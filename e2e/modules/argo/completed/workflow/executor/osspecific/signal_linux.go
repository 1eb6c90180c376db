// Package osspecific: the published module lacks this file, and without it the executor is not built for Linux.
package osspecific

import (
	"errors"
	"os"
	"syscall"
	"time"

	argoerrors "github.com/argoproj/argo-workflows/v3/util/errors"
)

// Term is the stop signal of a step.
const Term = syscall.SIGTERM

const reapEvery = 200 * time.Millisecond

// CanIgnoreSignal reports the signals that the executor does not forward.
func CanIgnoreSignal(s os.Signal) bool {
	switch s {
	case syscall.SIGCHLD, syscall.SIGURG:
		return true
	}
	return false
}

// Setpgid starts the step in its own process group, so that a signal reaches its children.
func Setpgid(attributes *syscall.SysProcAttr) {
	attributes.Setpgid = true
}

// Kill sends a signal to the group of a process, or to the process itself if its group is unknown.
func Kill(pid int, s syscall.Signal) error {
	if group, err := syscall.Getpgid(pid); err == nil {
		pid = -group
	}
	return syscall.Kill(pid, s)
}

// Wait waits for the step and reaps orphans, as process 1 of the container must.
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
