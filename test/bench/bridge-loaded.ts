import { fork, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { ACCOUNT, AUTH_TOKEN, createProvider, NUMBER, OWNER, PUBLIC_URL, tokenOf } from '../phone/provider.ts'
import { startFlags } from '../support/start-flags.ts'
import {
  type BridgeBench,
  bridgeLines,
  measureBridge,
  openLine,
  type Place,
  startBenchModel,
} from './bridge.ts'
import type { ChatNews } from './bridge-chat.ts'
import { prepareLedger } from './views.ts'

const PASSWORD = 'a long walk by the river'
const CHAT_TURNS_A_SECOND = 10
const SYNC_MICROSECONDS = 5_000
/**
 * Niceness of the measured service and the chat. This process, which plays caller and model, keeps the
 * shell's niceness: a telephone has its own processor.
 */
const NICENESS = 5
/** The caller speaks this often, which triggers a recall. */
const UTTERANCE_EVERY_ROUNDS = 100

export type LoadedBridgeBench = BridgeBench & {
  readonly chatTurnsPerSecond: number
  readonly failedChatTurns: number
  /** False without a C compiler to build the slow disk. */
  readonly slowDisk: boolean
}

/**
 * Measures the bridge in the whole service under load: ten chat turns a second, a recall per utterance, and a
 * disk whose syncs take 5 ms longer. The relay runs on the service's own event loop.
 */
export async function benchLoadedBridge(options: {
  /** Holds a prepared ledger, which is written to. */
  readonly directory: string
  readonly seconds: number
  readonly place?: Place
}): Promise<LoadedBridgeBench> {
  const { place = 'phone' } = options
  const chat = forkNicely('bridge-chat.ts', process.env)
  const failed = Promise.withResolvers<never>()
  failed.promise.catch(() => undefined)
  chat.on('exit', (code) => failed.reject(new Error(`the chat ended with ${code}`)))
  const news = <T extends ChatNews['type']>(type: T) =>
    Promise.race([
      failed.promise,
      new Promise<Extract<ChatNews, { type: T }>>((resolve) =>
        chat.on('message', (message) => {
          const received = message as ChatNews
          if (received.type === type) resolve(received as Extract<ChatNews, { type: T }>)
        }),
      ),
    ])
  const textModel = await news('model')
  const model = await startBenchModel()
  chat.on('message', (message, socket) => {
    const received = message as ChatNews
    if (received.type === 'upgrade') model.take(received.asked, socket as Socket)
  })
  const library = buildSlowSync(options.directory)
  const child = forkNicely('bridge-service.ts', {
    ...process.env,
    DATA_DIR: options.directory,
    OPENAI_API_KEY: 'sk-bench-key-of-the-double',
    OPENAI_BASE_URL: textModel.url,
    CHAT_MODEL: 'test-model',
    REALTIME_MODEL: 'bench',
    PUBLIC_URL,
    OWNER_PHONE_NUMBER: OWNER,
    TELEPHONY_ACCOUNT_SID: ACCOUNT,
    TELEPHONY_AUTH_TOKEN: AUTH_TOKEN,
    TELEPHONY_PHONE_NUMBER: NUMBER,
    TELEPHONY_API_BASE_URL: 'http://127.0.0.1:9',
    RELAY_MODEL_URL: model.relayUrl,
    ...(library === null ? {} : { LD_PRELOAD: library, SLOW_SYNC_MICROSECONDS: String(SYNC_MICROSECONDS) }),
  })
  child.on('exit', (code) => failed.reject(new Error(`the service ended with ${code}`)))
  try {
    const { port, relayPort, setupCode } = await Promise.race([
      failed.promise,
      new Promise<{ port: number; relayPort: number; setupCode: string | null }>((resolve) =>
        child.once('message', resolve),
      ),
    ])
    const signedIn = news('signed-in')
    chat.send({ port, setupCode, password: PASSWORD, perSecond: CHAT_TURNS_A_SECOND })
    const { cookie } = await signedIn
    const relay = await openLine(`ws://127.0.0.1:${relayPort}/relay`, place)
    const lines = { relay, bridge: await (place === 'phone' ? ring(port) : talk(port, cookie)) }
    await Promise.race([failed.promise, model.ready])
    const measured = await Promise.race([
      failed.promise,
      measureBridge(lines, model, {
        seconds: options.seconds,
        utteranceEveryRounds: UTTERANCE_EVERY_ROUNDS,
        place,
      }),
    ])
    const done = news('done')
    chat.send('stop')
    const { turns, failed: failedChatTurns, seconds } = await done
    return {
      ...measured,
      chatTurnsPerSecond: Math.round((turns / seconds) * 10) / 10,
      failedChatTurns,
      slowDisk: library !== null,
    }
  } finally {
    child.removeAllListeners('exit')
    child.kill('SIGKILL')
    chat.removeAllListeners('exit')
    chat.kill('SIGKILL')
    model.close()
  }
}

async function ring(port: number) {
  const markup = (await createProvider(port).ring('CA1', OWNER)).text
  const line = await openLine(`ws://127.0.0.1:${port}/call`)
  line.start(tokenOf(markup))
  return line
}

function talk(port: number, cookie: string) {
  const origin = `http://127.0.0.1:${port}`
  return openLine(`ws://127.0.0.1:${port}/api/talk`, 'browser', { cookie, origin })
}

function forkNicely(module: string, env: NodeJS.ProcessEnv) {
  return fork(join(import.meta.dirname, module), {
    env,
    execPath: 'nice',
    execArgv: ['-n', String(NICENESS), process.execPath, ...startFlags()],
  })
}

function buildSlowSync(directory: string): string | null {
  if (process.platform !== 'linux') return null
  const library = join(directory, 'slow-sync.so')
  const source = join(import.meta.dirname, 'slow-sync.c')
  const built = spawnSync('cc', ['-O1', '-shared', '-fPIC', '-o', library, source, '-ldl'], {
    encoding: 'utf8',
  })
  if (built.error) return null
  if (built.status !== 0) throw new Error(`slow-sync.c does not compile: ${built.stderr}`)
  return library
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      json: { type: 'boolean' },
      seconds: { type: 'string', default: '20' },
      turns: { type: 'string', default: '100000' },
      browser: { type: 'boolean', default: false },
    },
  })
  const directory = mkdtempSync(join(tmpdir(), 'delegate-bench-'))
  try {
    prepareLedger(directory, Number(values.turns) * 10)
    const result = await benchLoadedBridge({
      directory,
      seconds: Number(values.seconds),
      place: values.browser ? 'browser' : 'phone',
    })
    const { chatTurnsPerSecond, failedChatTurns, slowDisk } = result
    console.log(
      values.json
        ? JSON.stringify(result)
        : [
            ...bridgeLines(result),
            `beside ${chatTurnsPerSecond} chat turns a second, ${failedChatTurns} failed, ${slowDisk ? 'syncs of 5 ms more' : 'disk as it is'}`,
          ].join('\n'),
    )
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}
