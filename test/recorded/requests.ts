import type { Answer } from '../http/client.ts'
import type { Asked } from './exchange.ts'
import type { Session } from './places.ts'

export type Ask = (request: string, more?: Omit<Asked, 'request'>) => Promise<Answer>

/** Records a subject; `look` requests an address without recording it. */
type Recorder = (ask: Ask, more: { readonly session: Session; readonly look: Look }) => Promise<void>
type Look = (path: string) => Promise<Answer>

// biome-ignore lint/suspicious/noExplicitAny: responses have every shape.
type Json = any

async function pages(ask: Ask, path: string, query: string, cursor = 'cursor'): Promise<Json[]> {
  const found: Json[] = []
  for (let next = ''; ; ) {
    const { json } = await ask(`GET ${path}?${query}${next}`)
    found.push(json)
    if (json.nextCursor === null) return found
    next = `&${cursor}=${encodeURIComponent(json.nextCursor)}`
  }
}

const idsOf = (list: readonly Json[]): string[] => list.map(({ id }) => id)

/** The requests of each subject, for recording only; the tests repeat the requests of the transcripts. */
export const subjects: Readonly<Record<string, Recorder>> = {
  /** First, because it counts the pages that the process served. */
  async session(ask) {
    await ask('GET /api/session/context')
    for (const hours of ['', '?hours=1', '?hours=24', '?hours=720', '?hours=0', '?hours=721', '?hours=1.5']) {
      await ask(`GET /api/session/operations${hours}`)
      await ask(`GET /api/session/operations/series${hours}`)
    }
    for (const days of ['', '?days=1', '?days=91']) await ask(`GET /api/spending${days}`)
    await ask('GET /api/calls/current')
    await ask('GET /api/speech')
    await ask('GET /api/telephony/number')
  },

  async service(ask) {
    for (const path of ['/health', '/ready', '/api/session/health', '/build-info.json', '/public-url'])
      await ask(`GET ${path}`)
    for (const path of ['/auth/status', '/api/sessions', '/api/proxies', '/api/outbound', '/api/halt'])
      await ask(`GET ${path}`)
    await ask('GET /ready', { session: false })
    await ask('GET /auth/status', { session: false })
    for (const path of ['/api/nothing', '/api', '/chat', '/call', '/relay', '/api/talk'])
      await ask(`GET ${path}`)
    await ask('HEAD /api/notes')
    await ask('GET /install')
    await ask('GET /install.html')
  },

  async contract(ask) {
    await ask('GET /openapi.json')
    await ask('GET /docs')
    await ask('GET /docs.css')
  },

  async timeline(ask) {
    const all = (await pages(ask, '/api/timeline', 'limit=150', 'before')).flatMap(({ events }) => events)
    await ask('GET /api/timeline')
    await ask('GET /api/timeline?limit=1')
    await ask('GET /api/timeline?limit=5&before=100')
    const spans = new Map<string, string>()
    for (const { spanId, type, payload } of all) {
      // One of each kind and ending, including those that exceed a page.
      const kind = type === 'span.opened' ? payload.kind : type === 'span.closed' ? payload.reason : null
      if (spanId !== null && kind !== null) spans.set(kind, spanId)
      if (spanId !== null && 'excerpt' in payload) spans.set(spanId, spanId)
    }
    for (const id of new Set(spans.values())) await ask(`GET /api/timeline/spans/${id}`)
    await ask('GET /api/timeline/spans/nothing')
    for (const wrong of ['limit=0', 'limit=5001', 'limit=x', 'before=x'])
      await ask(`GET /api/timeline?${wrong}`)
  },

  async search(ask) {
    for (const q of [
      'train',
      'Rufus',
      'papaya',
      'coffee milk',
      'heliotrope',
      'marmalade',
      'Secret',
      '',
      '"',
      'zzz',
    ])
      await ask(`GET /api/timeline/search?q=${encodeURIComponent(q)}`)
    await pages(ask, '/api/timeline/search', 'q=the&limit=20')
    for (const channel of ['chat', 'voice', 'sms'])
      await ask(`GET /api/timeline/search?q=train&channel=${channel}`)
    for (const period of ['today', 'yesterday', 'last_week', 'never'])
      await ask(`GET /api/timeline/search?q=a&period=${period}&limit=5`)
    await ask('GET /api/timeline/search?q=the&from=2026-11-03&to=2026-11-04&limit=5')
    await ask('GET /api/timeline/search')
    await ask('GET /api/timeline/search?q=a&from=tomorrow')
  },

  async conversations(ask) {
    const found = (await pages(ask, '/api/conversations', 'limit=2')).flatMap((page) => page.conversations)
    for (const id of idsOf(found)) {
      await ask(`GET /api/conversations/${id}`)
      await ask(`GET /api/conversations/${id}/events?limit=20`)
    }
    const [newest] = idsOf(found)
    await ask(`GET /api/conversations/${newest}/events`)
    await ask('GET /api/conversations/nothing')
    await ask('GET /api/conversations/nothing/events')
    await ask('GET /api/conversations?cursor=x')
  },

  async turns(ask, { look }) {
    const { json } = await look('/api/timeline?limit=3000')
    const ids = json.events.flatMap(({ type, turnId }: Json) => (type === 'turn.started' ? [turnId] : []))
    for (const id of ids) await ask(`GET /api/turns/${id}`)
    await ask('GET /api/turns/nothing')
  },

  async memories(ask) {
    await pages(ask, '/api/memories', 'limit=4')
    for (const q of ['dog', 'where do I live', 'heliotrope', 'zzz', ''])
      await ask(`GET /api/memories?q=${encodeURIComponent(q)}`)
    await ask('GET /api/memories?limit=0')
    await ask('GET /api/memories/insights')
    await ask('GET /memory-config')
  },

  async notes(ask) {
    const kept = (await pages(ask, '/api/notes', 'limit=3')).flatMap(({ notes }) => notes)
    const deleted = (await pages(ask, '/api/notes', 'limit=1&deleted=true')).flatMap(({ notes }) => notes)
    for (const id of idsOf([...kept, ...deleted])) {
      await ask(`GET /api/notes/${id}`)
      const { json } = await ask(`GET /api/notes/${id}/revisions`)
      for (const { revision } of json.revisions ?? []) await ask(`GET /api/notes/${id}/revisions/${revision}`)
      await ask(`GET /notes/${id}`)
    }
    const [first] = idsOf(kept)
    await ask(`GET /api/notes/${first}/revisions/99`)
    for (const q of ['garden', 'roses', 'Secret', 'olives', 'zzz', '"the garden"'])
      await ask(`GET /api/notes?q=${encodeURIComponent(q)}`)
    for (const path of [
      '/api/notes/nothing',
      '/api/notes/nothing/revisions',
      '/notes/nothing',
      '/api/notes?limit=x',
    ])
      await ask(`GET ${path}`)
  },

  async adaptations(ask) {
    const { json } = await ask('GET /api/adaptations')
    for (const id of idsOf(json.adaptations)) await ask(`GET /api/adaptations/${id}`)
    for (const id of ['nothing', 'gone', 'mornings']) await ask(`GET /api/adaptations/${id}`)
    for (const query of ['', '?channel=chat', '?channel=voice', '?channel=sms', '?channel=fax'])
      await ask(`GET /api/adaptations.preview${query}`)
  },

  async tasks(ask) {
    const found = (await pages(ask, '/api/tasks', 'limit=4')).flatMap(({ tasks }) => tasks)
    for (const id of idsOf(found)) await ask(`GET /api/tasks/${id}`)
    await ask('GET /api/tasks/nothing')
    await ask('GET /api/tasks?limit=201')
  },

  async timers(ask) {
    const found = (await pages(ask, '/api/timers', 'limit=3')).flatMap(({ timers }) => timers)
    for (const id of idsOf(found)) await ask(`GET /api/timers/${id}`)
    await ask('GET /api/timers/nothing')
    await ask('GET /api/timers')
    await ask('GET /api/timers?limit=0')
  },

  async erasures(ask, { look }) {
    const found = (await pages(ask, '/api/erasures', 'limit=4')).flatMap(({ erasures }) => erasures)
    for (const id of idsOf(found)) await ask(`GET /api/erasures/${id}`)
    await ask('GET /api/erasures/nothing')
    const { memories } = (await look('/api/memories?limit=200')).json
    for (const id of idsOf(memories)) await ask(`GET /api/erasures.plan?kind=memory&id=${id}`)
    const { notes } = (await look('/api/notes?limit=200')).json
    for (const id of idsOf(notes)) await ask(`GET /api/erasures.plan?kind=note&id=${id}`)
    await ask('GET /api/erasures.plan?kind=adaptation&id=brief')
    await ask('GET /api/erasures.plan?kind=message&id=13')
    await ask('GET /api/erasures.plan?kind=period&from=2026-11-03T08:00:00Z&to=2026-11-03T08:02:00Z')
    for (const wrong of ['kind=period', 'kind=memory&id=nothing', 'kind=house&id=1', ''])
      await ask(`GET /api/erasures.plan?${wrong}`)
    await ask('GET /api/proposals')
  },

  async settings(ask) {
    await ask('GET /api/config')
    await ask('GET /api/services')
    await ask('GET /api/services/nothing/models')
    await ask('GET /api/security')
    await ask('GET /_dev/walkie/logs')
  },

  /** A repeated message returns its first outcome, so this appends nothing either. */
  async chat(ask, { session }) {
    const { clientMessageId } = session
    const body = { content: 'What time is it?', clientMessageId }
    await ask('POST /api/chat', { body })
    await ask('POST /api/chat', { body, headers: { accept: 'text/event-stream' } })
    await ask('POST /api/chat', { body: { content: '' } })
  },

  /** Last, because requests of strangers are counted, and the count becomes a fact when the service stops. */
  async strangers(ask) {
    for (const path of ['/api/notes', '/api/timeline', '/openapi.json', '/docs'])
      await ask(`GET ${path}`, { session: false })
    for (const path of ['/', '/notes', '/settings', '/notes/nothing'])
      await ask(`GET ${path}`, { session: false, headers: { accept: 'text/html' } })
    await ask('POST /api/chat', { session: false, body: { content: 'Hello' } })
    await ask('POST /api/chat', { headers: { origin: 'https://evil.example' }, body: { content: 'Hello' } })
    await ask('POST /sms', { session: false, body: {} })
  },
}

/** Addresses of the contract, apart from pages of the web app, that no transcript covers, with the reason. */
export const UNREAD_ROUTES: Readonly<Record<string, string>> = {
  '/api/notifications': 'depends on the present time',
  '/api/notifications/{seq}': 'has a test of its own',
  '/api/backups': 'has a test of its own',
  '/api/downloads': 'has a test of its own',
  '/api/downloads/{id}/file': 'has a test of its own',
  '/api/imports': 'has a test of its own',
  '/api/imported': 'has a test of its own',
  '/api/imported/{id}': 'has a test of its own',
  '/api/imported.readings': 'has a test of its own',
  '/api/imported.candidates': 'has a test of its own',
  '/api/push': 'has a test of its own',
  '/api/memories/recall-examples': 'changes with the constants of relevance',
  '/api/auth/factors': 'has a test of its own',
  '/metrics': 'depends on the process',
  '/api/logs': 'depends on the process',
  '/api/logs/stream': 'depends on the process',
  '/_dev/walkie/logs/stream': 'depends on the process',
  '/api/timers.ics': 'depends on the present time',
  '/api/timers.feed': 'has a test of its own',
  '/calendar/{file}': 'has a test of its own',
  '/voice-markup': 'appends a fact and returns a one-time token',
}
