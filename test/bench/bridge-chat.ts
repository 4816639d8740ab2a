import { parentPort } from 'node:worker_threads'
import { startModelDouble } from '../doubles/model/model-double.ts'
import { createClient } from '../http/client.ts'

/** The owner's chat beside the call, and the text model that answers it: both on a thread of their own. */
export type ChatOrder = { readonly port: number; readonly password: string; readonly perSecond: number }
export type ChatNews =
  | { readonly type: 'model'; readonly url: string }
  | { readonly type: 'signed-in' }
  | { readonly type: 'done'; readonly turns: number; readonly failed: number; readonly seconds: number }

if (!parentPort) throw new Error('this is a worker')
const parent = parentPort
const tell = (news: ChatNews) => parent.postMessage(news)

const model = await startModelDouble({ validate: false, record: false })
model.answerWith(() => ({ text: 'The train to the harbour leaves at nine.' }))
tell({ type: 'model', url: model.url })

parent.on('message', (order: ChatOrder | 'stop') => {
  if (order === 'stop') stop()
  else start(order).catch((error: unknown) => parent.emit('error', error))
})

const MAX_UNDER_WAY = 20
let turns = 0
let failed = 0
let underWay = 0
let startedMs = 0
let timer: NodeJS.Timeout | undefined

async function start({ port, password, perSecond }: ChatOrder): Promise<void> {
  const client = createClient(port)
  await client.post('/api/install', { password })
  tell({ type: 'signed-in' })
  startedMs = performance.now()
  timer = setInterval(() => {
    if (underWay >= MAX_UNDER_WAY) return
    underWay += 1
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
        underWay -= 1
      })
  }, 1000 / perSecond)
}

function stop(): void {
  clearInterval(timer)
  tell({ type: 'done', turns, failed, seconds: (performance.now() - startedMs) / 1000 })
}
