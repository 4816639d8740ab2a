import { type Answer, createClient } from '../../http/client.ts'
import { createProvider, NUMBER, OWNER } from '../../phone/provider.ts'
import type { Random } from '../../support/random.ts'
import type { Cluster } from './cluster.ts'
import { type ServiceNode, sleep } from './nodes.ts'
import type { World } from './world.ts'

export const KINDS = ['message', 'text', 'timer', 'task'] as const
export type Kind = (typeof KINDS)[number]

/** What a client asks for, and how it was acknowledged. */
export type Item = {
  readonly kind: Kind
  readonly mark: string
  /** A timer that is due soon. */
  readonly isSoon: boolean
  readonly sentAtMs: number
  attempts: number
  /** Of the first acknowledgement. */
  ack: { readonly atMs: number; readonly life: string } | null
}

/** A client gives up waiting, and may ask again. The request goes on. */
const PATIENCE_MS = 6_000
const PAUSE_MS = 60
const RETRY_MS = 60
/** What the browser and the provider repeat under the same id. Others would be recorded twice. */
const isRepeated = ({ kind }: Item) => kind === 'message' || kind === 'text'
/** A message with such an outcome is recorded, but its turn failed. */
const FAILED_TURN = /^(turn|model)_/
/** What a client may be told while nothing works. 408: the node was stopped for longer than a request may take. */
const REFUSED = new Set([503, 408])

export type Clients = ReturnType<typeof startClients>

/** Clients that keep asking whichever node is ready, and note what was acknowledged and by which process. */
export function startClients(options: {
  readonly cluster: Cluster
  readonly world: World
  readonly random: Random
  readonly flaws: string[]
}) {
  const { cluster, world, random, flaws } = options
  const items: Item[] = []
  let isOpen = true
  let isAsking = true

  function newItem(): Item {
    const item: Item = {
      kind: random.pick(KINDS),
      mark: `mark${items.length}x`,
      isSoon: random.chance(0.3),
      sentAtMs: performance.now(),
      attempts: 0,
      ack: null,
    }
    items.push(item)
    return item
  }

  function ask(item: Item, { port }: ServiceNode): Promise<Answer> {
    const { kind, mark } = item
    const client = createClient(port)
    client.useCookie(cluster.cookie)
    switch (kind) {
      case 'message': {
        world.slowDown()
        const content = item.isSoon ? `Please text me about ${mark}` : `Hello ${mark}`
        return client.post('/api/chat', { content, clientMessageId: `torture-${mark}` })
      }
      case 'text': {
        world.slowDown()
        const fields = {
          MessageSid: `SM${mark}`,
          From: OWNER,
          To: NUMBER,
          Body: `Hello ${mark}`,
          NumMedia: '0',
        }
        return createProvider(port).post('/sms', fields)
      }
      case 'timer': {
        const inMs = item.isSoon ? 300 + random.below(1_500) : 500 * 60_000
        return client.post('/api/timers', { title: mark, at: new Date(Date.now() + inMs).toISOString() })
      }
      case 'task':
        return client.post('/api/tasks', {
          title: mark,
          prompt: 'anything',
          notify: item.isSoon ? 'sms' : 'chat',
        })
    }
  }

  /** Asks a node once. Resolves once it has answered, or the client has lost its patience. */
  async function attempt(item: Item, node: ServiceNode): Promise<void> {
    item.attempts += 1
    const life = node.life()
    const answered = ask(item, node).then(
      ({ status, json, text }) => {
        if (status < 300 || FAILED_TURN.test(json?.code ?? '')) item.ack ??= { atMs: performance.now(), life }
        else if (!REFUSED.has(status))
          flaws.push(`${item.kind} ${item.mark} got ${status} from ${life}: ${text.slice(0, 300)}`)
      },
      () => undefined,
    )
    await Promise.race([answered, sleep(PATIENCE_MS)])
  }

  async function see(item: Item): Promise<void> {
    for (;;) {
      const node = cluster.ready()
      if (node) {
        await attempt(item, node)
        if (item.ack || !isRepeated(item)) return
      }
      if (!isOpen) return
      await sleep(RETRY_MS)
    }
  }

  const loops = KINDS.map(async () => {
    while (isOpen) {
      if (isAsking && cluster.ready()) await see(newItem())
      await sleep(random.next() * PAUSE_MS)
    }
  })

  return {
    items: items as readonly Item[],
    /** Sends something new to a node, whatever its state. */
    provoke(node: ServiceNode): void {
      const item = newItem()
      void attempt(item, node).then(() => (isRepeated(item) && !item.ack ? see(item) : undefined))
    },
    stop() {
      isOpen = false
    },
    /** Resolves once what is repeated was acknowledged. Call it while the cluster is sound. */
    async close(): Promise<void> {
      isAsking = false
      await cluster.until('everything that is repeated is acknowledged', () =>
        items.every((item) => item.ack !== null || !isRepeated(item)),
      )
      isOpen = false
      await Promise.all(loops)
    },
  }
}
