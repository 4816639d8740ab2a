import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { english } from '../language/message.ts'
import { type Account, codeOf, startProgram } from '../lib/program.ts'
import { bubblewrapped } from './bubblewrap.ts'

/** TASK_ISOLATION. */
export type IsolationChoice = 'auto' | WayName | 'none'
type WayName = 'bubblewrap' | 'user'

/** What keeps the programs of tasks from the service's data. */
export type IsolationState = {
  /** Null if the chosen way does not work here: then no program is started. */
  readonly way: WayName | 'none' | null
  /** Why programs are not isolated, or why none is started; null if they are isolated. */
  readonly reason: string | null
  readonly remedy: string | null
}

export type Isolation = IsolationState & {
  readonly wrap: (command: readonly string[]) => readonly string[]
  /** The account that programs run as; null for that of the service. */
  readonly account: Account | null
  /** Variables that differ for that account. */
  readonly environment: Readonly<Record<string, string>>
}

type Way = Pick<Isolation, 'wrap' | 'account' | 'environment'>

const asIs: Way = { wrap: (command) => command, account: null, environment: {} }

/** Only what hangs reaches it: a probe that fails on a busy machine would count until the next start. */
const PROBE_LIMIT_MS = 30_000
const GRACE_MS = 100
const ENVIRONMENT_BYTES = 4_096
const MARK = '\nenvironment\n'
/** The first line fails where its tools are missing: what they cannot read would prove nothing. */
const PROBE = `ls / >/dev/null && head -c 1 /dev/null || exit 1
ls -A "$1"; head -c 1 "$1/ledger.sqlite"
printf '${MARK.replaceAll('\n', '\\n')}'; head -c ${ENVIRONMENT_BYTES} "/proc/$2/environ"; echo; echo ran`

const REMEDIES: Readonly<Record<IsolationChoice, string>> = {
  auto: english`Install bubblewrap, or run Delegate as root and set TASK_USER to another account. Then restart Delegate.`,
  bubblewrap: english`Install bubblewrap and allow user namespaces, or choose another TASK_ISOLATION. Then restart Delegate.`,
  user: english`Run Delegate as root and set TASK_USER to another account, or choose another TASK_ISOLATION. Then restart Delegate.`,
  none: english`Remove TASK_ISOLATION from the environment, then restart Delegate.`,
}

/**
 * Finds out once how the programs of tasks can be isolated here. Each way counts only if a probe that it runs
 * can read neither the data directory nor the environment of this process.
 */
export function createIsolation(options: {
  readonly choice: IsolationChoice
  /** TASK_USER. */
  readonly user: string | null
  /** The real path of the data directory. */
  readonly dataDir: string
  /** The environment of programs, where they are looked for. */
  readonly environment: () => Readonly<Record<string, string>>
}): () => Promise<Isolation> {
  const { choice, user, dataDir } = options
  const ways: Readonly<Record<WayName, () => Promise<Way>>> = {
    user: () => asUser(user),
    bubblewrap: async () => ({
      ...asIs,
      wrap: (command) => bubblewrapped(command, dataDir, process.getuid?.() ?? 0),
    }),
  }

  async function choose(): Promise<Isolation> {
    const remedy = REMEDIES[choice]
    if (choice === 'none') return { way: 'none', reason: english`TASK_ISOLATION is none.`, remedy, ...asIs }
    const candidates: WayName[] = user === null ? ['bubblewrap'] : ['user', 'bubblewrap']
    const reasons: string[] = []
    for (const name of choice === 'auto' ? candidates : [choice]) {
      try {
        const way = await ways[name]()
        await probe(name === 'user' ? 'TASK_USER' : 'bubblewrap', way, dataDir, options.environment().PATH)
        return { way: name, reason: null, remedy: null, ...way }
      } catch (error) {
        if (!(error instanceof NotIsolated)) throw error
        reasons.push(error.message)
      }
    }
    return { way: choice === 'auto' ? 'none' : null, reason: reasons.join(' '), remedy, ...asIs }
  }

  let chosen: Promise<Isolation> | null = null
  return () => {
    chosen ??= choose()
    return chosen
  }
}

/** A way does not work; the message says why in a sentence. */
class NotIsolated extends Error {}

async function asUser(name: string | null): Promise<Way> {
  if (name === null) throw new NotIsolated(english`TASK_USER is not set.`)
  if (process.getuid?.() !== 0) throw new NotIsolated(english`TASK_USER needs a service that runs as root.`)
  // Finds accounts of every source that the machine knows, unlike reading /etc/passwd.
  const found = await promisify(execFile)('getent', ['passwd', name]).catch(() => ({ stdout: '' }))
  const [, , uid, gid, , home] = found.stdout.trim().split(':')
  if (!uid || !gid || !home)
    throw new NotIsolated(english`TASK_USER names ${name}, which is no account of this machine.`)
  return {
    ...asIs,
    account: { uid: Number(uid), gid: Number(gid) },
    environment: { HOME: home, USER: name, LOGNAME: name },
  }
}

/** Throws NotIsolated unless a program that runs in this way can read neither the data nor our environment. */
async function probe(name: string, way: Way, dataDir: string, path: string | undefined): Promise<void> {
  const started = await startProgram({
    command: way.wrap(['sh', '-c', PROBE, 'sh', dataDir, String(process.pid)]),
    directory: '/',
    environment: { ...(path === undefined ? {} : { PATH: path }), ...way.environment },
    account: way.account,
    input: '',
  })
  if (started.status === 'failed')
    throw new NotIsolated(english`With ${name}, no program could be started (${started.reason}).`)
  const limit = setTimeout(() => void started.process.end(GRACE_MS), PROBE_LIMIT_MS)
  await started.process.exit
  clearTimeout(limit)
  const { stdout, stderr } = started.process.output()
  const [data = '', environment = ''] = stdout.split(MARK)
  if (!environment.endsWith('\nran\n')) throw new NotIsolated(failureOf(name, stderr))
  if (data !== '') throw new NotIsolated(english`With ${name}, a program can read DATA_DIR.`)
  const own = ownEnvironment()
  if (own !== '' && environment.startsWith(own))
    throw new NotIsolated(english`With ${name}, a program can read the service's environment.`)
}

function failureOf(name: string, stderr: string): string {
  if (stderr.includes('bwrap') && stderr.includes('No such file'))
    return english`bubblewrap is not installed.`
  const [line = ''] = stderr.trim().split('\n')
  return line === ''
    ? english`With ${name}, no program runs here.`
    : english`With ${name}, no program runs here (${line.replace(/\.$/, '')}).`
}

/** As the probe would print it; empty without `/proc`. */
function ownEnvironment(): string {
  try {
    return readFileSync('/proc/self/environ').subarray(0, ENVIRONMENT_BYTES).toString('utf8')
  } catch (error) {
    if (codeOf(error) === 'unknown') throw error
    return ''
  }
}
