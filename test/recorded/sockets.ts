import { WebSocket } from 'ws'
import type { Session } from './places.ts'
import type { Started } from './start.ts'

/** One connection to the chat socket, in transcript form. */
export type Conversation = {
  readonly path: string
  /** The status that refused the upgrade. */
  readonly refused?: number
  /** The messages received before the first one was sent, and after each. */
  readonly turns: readonly Turn[]
}
type Turn = { readonly sent: string | null; readonly heard: readonly unknown[] }

/** The service rejects this message, which shows that all earlier answers have arrived. */
const NONSENSE = '{"type":"nothing"}'
/** Gives up on a message that never comes. */
const GIVE_UP_MS = 20_000

type Socket = {
  readonly heard: string[]
  send(text: string): void
  close(): Promise<void>
}

/** Opens the socket as a page does; resolves to the status if the upgrade is refused. */
function open(service: Started, path: string, headers: Record<string, string>): Promise<Socket | number> {
  const socket = new WebSocket(`ws://127.0.0.1:${service.port}${path}`, { headers })
  const heard: string[] = []
  socket.on('message', (data) => heard.push(String(data)))
  const closed = new Promise<void>((resolve) => socket.on('close', () => resolve()))
  return new Promise((resolve, reject) => {
    socket.on('open', () =>
      resolve({
        heard,
        send: (text) => socket.send(text),
        close() {
          socket.close()
          return closed
        },
      }),
    )
    socket.on('unexpected-response', (_request, response) => {
      response.resume()
      resolve(response.statusCode ?? 0)
    })
    socket.on('error', reject)
  })
}

async function openAsOwner(service: Started, path: string): Promise<Socket> {
  const socket = await open(service, path, { cookie: service.client.cookie() ?? '', origin: service.origin })
  if (typeof socket === 'number') throw new Error(`${path} was refused with ${socket}`)
  return socket
}

async function until(what: string, holds: () => boolean): Promise<void> {
  for (const untilMs = performance.now() + GIVE_UP_MS; performance.now() < untilMs; ) {
    if (holds()) return
    await new Promise((resolve) => setTimeout(resolve, 2))
  }
  throw new Error(`timed out waiting for: ${what}`)
}

/** Sends a message and collects the answers up to the rejection of a nonsense message sent after it. */
async function say(socket: Socket, sent: string | null): Promise<Turn> {
  const isOver = () => socket.heard.some((text) => isRefusal(text))
  if (sent !== null) {
    const before = socket.heard.length
    socket.send(sent)
    await until(`an answer to ${sent}`, () => socket.heard.length > before)
  }
  if (sent !== NONSENSE) socket.send(NONSENSE)
  await until('the refusal of nonsense', isOver)
  const heard = socket.heard.splice(0).map((text) => jsonOf(text))
  return {
    sent,
    heard: sent === NONSENSE ? heard : heard.filter((message) => !isRefusal(JSON.stringify(message))),
  }
}

const isRefusal = (text: string) => text.includes('"type":"chat.error"') && text.includes('"path":"type"')

/** As JSON if that preserves the exact bytes. */
function jsonOf(text: string): unknown {
  const json: unknown = JSON.parse(text)
  return JSON.stringify(json) === text ? json : text
}

async function refused(service: Started, path: string, headers: Record<string, string>) {
  const answer = await open(service, path, headers)
  if (typeof answer !== 'number') throw new Error(`${path} was not refused`)
  return { path, refused: answer, turns: [] }
}

/** Uses the chat socket as a page does; returns the conversations. */
export async function talk(
  service: Started,
  { clientMessageId }: Session,
  headSeq: number,
): Promise<Conversation[]> {
  const conversations: Conversation[] = []
  const connect = async (path: string, lastSeq: number | null, messages: readonly string[]) => {
    const socket = await openAsOwner(service, path)
    // Missed events arrive unasked, up to the head.
    if (lastSeq !== null)
      await until(`event ${lastSeq}`, () => socket.heard.some((text) => hasSeq(text, lastSeq)))
    const turns = [await say(socket, null)]
    for (const message of messages) turns.push(await say(socket, message))
    conversations.push({ path, turns })
    await socket.close()
    return turns
  }

  const [opening] = await connect('/chat', null, [NONSENSE])
  let cursor = cursorOf(opening)
  const socket = await openAsOwner(service, '/chat')
  await say(socket, null)
  const turns: Turn[] = []
  while (cursor !== null) {
    const turn = await say(socket, JSON.stringify({ type: 'history.more', cursor }))
    turns.push(turn)
    cursor = cursorOf(turn)
  }
  turns.push(await say(socket, JSON.stringify({ type: 'history.more', cursor: 'x' })))
  turns.push(await say(socket, JSON.stringify({ type: 'conversation.end', conversationId: 'nothing' })))
  conversations.push({ path: '/chat', turns })
  await socket.close()

  await connect(`/chat?since=${headSeq - 120}`, headSeq, [])
  await connect(`/chat?since=${headSeq}`, null, [
    JSON.stringify({ type: 'chat.message', content: 'What time is it?', clientMessageId }),
  ])
  await connect(`/chat?since=${headSeq + 1}`, null, [])
  await connect('/chat?since=x', null, [])
  const cookie = service.client.cookie() ?? ''
  conversations.push(await refused(service, '/chat', { origin: service.origin }))
  conversations.push(await refused(service, '/chat', { origin: 'https://evil.example', cookie }))
  conversations.push(await refused(service, '/nothing', { origin: service.origin, cookie }))
  return conversations
}

const hasSeq = (text: string, seq: number) =>
  text.startsWith(`{"type":"timeline.event","event":{"seq":${seq},`)

function cursorOf(turn: Turn | undefined): string | null {
  const page = turn?.heard.find((each) => (each as { type?: string }).type === 'history.page')
  return (page as { page: { nextCursor: string | null } } | undefined)?.page.nextCursor ?? null
}
