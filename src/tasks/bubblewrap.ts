import { existsSync } from 'node:fs'

/**
 * Sockets of managers that start programs outside: through them, a program could have the data read. The
 * last ones are in the runtime directory of the user.
 */
const MANAGERS = [
  '/run/systemd/private',
  '/run/dbus/system_bus_socket',
  '/run/docker.sock',
  '/run/containerd/containerd.sock',
  '/run/podman/podman.sock',
] as const
const MANAGERS_OF_USER = ['systemd/private', 'bus', 'docker.sock', 'podman/podman.sock'] as const

/**
 * Wraps a command in bubblewrap: the file system as it is, but the data directory empty, plain devices only,
 * and no other process in sight. `env` lets SIGTERM pass bubblewrap, which would end at once and take the
 * program along without a chance to clean up.
 */
export function bubblewrapped(command: readonly string[], dataDir: string, uid: number): string[] {
  return [
    ...['env', '--ignore-signal=TERM', 'bwrap', '--die-with-parent', '--unshare-pid', '--cap-drop', 'ALL'],
    ...['--bind', '/', '/', '--dev', '/dev', '--bind-try', '/dev/shm', '/dev/shm', '--proc', '/proc'],
    ...['--tmpfs', dataDir],
    ...managersOf(uid).flatMap((socket) => ['--ro-bind', '/dev/null', socket]),
    ...['--', 'env', '--default-signal=TERM', ...command],
  ]
}

function managersOf(uid: number): string[] {
  const ofUser = MANAGERS_OF_USER.map((name) => `/run/user/${uid}/${name}`)
  return [...MANAGERS, ...ofUser].filter((socket) => existsSync(socket))
}
