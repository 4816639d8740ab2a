import type { Socket } from 'node:net'
import { startModelDouble } from '../doubles/model/model-double.ts'
import { createClient } from '../http/client.ts'
import type { Upgrade } from './bridge.ts'

/**
 * Messages of the process that runs the chat and its text model. Hands the model's sockets to the measuring
 * process.
 */
export type ChatOrder = {
  readonly port: number
  readonly setupCode: string | null
  readonly password: string
  readonly perSecond: number
}
export type ChatNews =
  | { readonly type: 'model'; readonly url: string }
  | { readonly type: 'signed-in'; readonly cookie: string }
  | { readonly type: 'upgrade'; readonly asked: Upgrade }
  | { readonly type: 'done'; readonly turns: number; readonly failed: number; readonly seconds: number }

const report = (news: ChatNews, socket?: Socket) => process.send?.(news, socket)

const model = await startModelDouble({
  validate: false,
  record: false,
  onUpgrade: ({ method, url, headers }, socket) =>
    report({ type: 'upgrade', asked: { method, url, headers } }, socket as Socket),
})
model.answerWith(() => ({ text: 'The train to the harbour leaves at nine.' }))
report({ type: 'model', url: model.url })

process.on('message', (order: ChatOrder | 'stop') => {
  if (order === 'stop') stop()
  else void start(order)
})

const MAX_IN_PROGRESS = 20
let turns = 0
let failed = 0
let inProgress = 0
let startedMs = 0
let timer: NodeJS.Timeout | undefined

async function start({ port, setupCode, password, perSecond }: ChatOrder): Promise<void> {
  const client = createClient(port)
  await client.post('/api/install', { password, setupCode })
  report({ type: 'signed-in', cookie: client.cookie() ?? '' })
  startedMs = performance.now()
  timer = setInterval(() => {
    if (inProgress >= MAX_IN_PROGRESS) return
    inProgress += 1
    client
      .post('/api/chat', { content: `What did I say about the umbrella and the harbour, number ${turns}?` })
      .then(({ status }) => {
        if (status === 200) turns += 1
        else failed += 1
      })
      .catch(() => {
        failed += 1
      })
      .finally(() => {
        inProgress -= 1
      })
  }, 1000 / perSecond)
}

function stop(): void {
  clearInterval(timer)
  report({ type: 'done', turns, failed, seconds: (performance.now() - startedMs) / 1000 })
}
