import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { CallAction } from '../../../src/phone/call/call-state.ts'
import { muLaw } from '../../../src/phone/call/codec.ts'
import { HEARD_SLACK_MS } from '../../../src/phone/call/medium.ts'
import { callOptions, clears, type Driver, facts, sent, startCall } from './call-driver.ts'
import { anyOp, type Op } from './call-ops.ts'

/** Each byte of a reply identifies its response and item; values from here on are our own phrases. */
const PHRASES = 201
const PHRASE_TEXTS = Object.values(callOptions().phrases).map(({ text }) => text)
const byteOf = (response: number, item: number) => 2 * response + item
const itemOf = (byte: number) => (byte < PHRASES ? `r${byte >> 1}-${byte & 1}` : '')

/** What an outside observer of both sockets knows. */
class World {
  readonly call: Driver
  responses: { number: number; session: number; done: boolean }[] = []
  requested = false
  adopted: number | null = null
  opened: number[] = []
  closed: number[] = []
  pendingMarks: { name: string; item: string; endBytes: number }[] = []
  staleMarks: string[] = []
  sentBytes = new Map<string, number>()
  ackedBytes = new Map<string, number>()
  /** Responses that must not be heard any more. */
  banned = new Set<number>()
  audioOut = false
  texts = new Map<string, string>()
  utterances: string[] = []
  tools: string[] = []
  /** Returned tools. Some session must receive their results unless the call ends first. */
  results: string[] = []
  finished: string[] = []

  constructor() {
    this.call = startCall(callOptions({ silenceMs: 20_000, maxCallMs: null }))
    this.observe(this.call.all)
  }

  recent(offset: number) {
    return this.responses.at(-1 - offset)
  }

  active() {
    return this.responses.find((r) => !r.done && r.session === this.adopted)
  }

  observe(actions: readonly CallAction[]): void {
    expect(clears(actions)).toBeLessThanOrEqual(1)
    const interrupted = facts(actions, 'call.interrupted').length
    expect(interrupted).toBeLessThanOrEqual(1)
    if (interrupted > 0) for (const response of this.responses) this.banned.add(response.number)
    for (const action of actions) this.observeOne(action)
  }

  observeOne(action: CallAction): void {
    if (action.type === 'line.media') this.observeMedia(Buffer.from(action.payload, 'base64'), action.mark)
    if (action.type === 'line.clear') {
      expect(this.audioOut).toBe(true)
      this.audioOut = false
      this.staleMarks.push(...this.pendingMarks.map((mark) => mark.name))
      this.pendingMarks = []
    }
    if (action.type === 'model.open') {
      expect(this.opened).not.toContain(action.session)
      this.opened.push(action.session)
    }
    if (action.type === 'model.adopt') this.adopted = action.session
    if (action.type === 'model.close') {
      if (action.session === this.adopted) this.adopted = null
      this.closed.push(action.session)
    }
    if (action.type === 'response.finished') {
      expect(this.finished).not.toContain(action.response.responseId)
      this.finished.push(action.response.responseId)
    }
    if (action.type === 'tool.run') {
      expect(this.tools).not.toContain(action.callId)
      this.tools.push(action.callId)
    }
    if (action.type === 'model.send') {
      expect(this.adopted).not.toBeNull()
      if (action.event.type === 'response.create') {
        expect(this.requested).toBe(false)
        expect(this.active()).toBeUndefined()
        this.requested = true
      }
      if (action.event.type === 'conversation.item.truncate') {
        const { item_id, audio_end_ms } = action.event
        const sentMs = (this.sentBytes.get(item_id) ?? 0) / muLaw.bytesPerMs
        const ackedMs = (this.ackedBytes.get(item_id) ?? 0) / muLaw.bytesPerMs
        expect(Number.isInteger(audio_end_ms)).toBe(true)
        expect(audio_end_ms).toBeGreaterThan(0)
        expect(audio_end_ms).toBeLessThan(sentMs)
        expect(audio_end_ms).toBeLessThanOrEqual(ackedMs + HEARD_SLACK_MS)
      }
    }
  }

  observeMedia(bytes: Buffer, mark: string): void {
    const value = bytes[0] ?? 0
    expect(bytes.every((byte) => byte === value)).toBe(true)
    if (value < PHRASES) expect(this.banned).not.toContain(value >> 1)
    const name = itemOf(value)
    const endBytes = (this.sentBytes.get(name) ?? 0) + bytes.length
    this.sentBytes.set(name, endBytes)
    expect(this.pendingMarks.map((pending) => pending.name)).not.toContain(mark)
    expect(this.staleMarks).not.toContain(mark)
    this.pendingMarks.push({ name: mark, item: name, endBytes })
    this.audioOut = true
  }

  do(op: Op): void {
    this.observe(this.perform(op))
  }

  /** Performs the operation in the current state; returns no actions if it means nothing there. */
  perform(op: Op): readonly CallAction[] {
    const { call } = this
    const response = 'which' in op ? this.recent(op.which) : undefined
    const id = `r${response?.number}`
    const itemId = 'item' in op ? `${id}-${op.item}` : ''
    const from = response?.session
    if ('which' in op && !response) return []
    switch (op.op) {
      case 'create': {
        if (this.active() || this.adopted === null || this.responses.length >= 99) return []
        const number = this.responses.length + 1
        this.responses.push({ number, session: this.adopted, done: false })
        this.requested = false
        return call.created(`r${number}`)
      }
      case 'delta':
        return call.said(
          {
            type: 'response.output_audio.delta',
            response_id: id,
            item_id: itemId,
            content_index: 0,
            delta: Buffer.alloc(op.bytes, byteOf(response?.number ?? 0, op.item)).toString('base64'),
          },
          from,
        )
      case 'text': {
        const delta = `word${this.texts.size} `
        this.texts.set(itemId, (this.texts.get(itemId) ?? '') + delta)
        const ofItem = { response_id: id, item_id: itemId, content_index: 0 }
        return call.said({ type: 'response.output_audio_transcript.delta', ...ofItem, delta }, from)
      }
      case 'audioDone':
        return call.said(
          { type: 'response.output_audio.done', response_id: id, item_id: itemId, content_index: 0 },
          from,
        )
      case 'done': {
        if (!response) return []
        response.done = true
        const output = op.tool
          ? [{ type: 'function_call', call_id: `c-${id}`, name: 'look', arguments: '{}' }]
          : []
        return call.said({ type: 'response.done', response: { id, status: op.status, output } }, from)
      }
      case 'speech':
        return call.speechStarted()
      case 'stop':
        return call.speechStopped()
      case 'commit': {
        if (this.adopted === null) return []
        const utterance = `u${this.utterances.length}`
        this.utterances.push(utterance)
        return call.committed(utterance, this.utterances.at(-2) ?? null)
      }
      case 'announce':
        if (this.adopted === null) return []
        return call.said({
          type: 'conversation.item.added',
          item: { id: `u${this.utterances.length}`, type: 'message' },
          previous_item_id: this.utterances.at(-1) ?? null,
        })
      case 'added':
        return call.said(
          {
            type: 'conversation.item.added',
            item: { id: itemId, type: 'message' },
            previous_item_id: op.item === 0 ? (this.utterances.at(-1) ?? null) : `${id}-0`,
          },
          from,
        )
      case 'begun':
        return call.said(
          { type: 'response.output_item.added', response_id: id, item: { id: itemId, type: 'message' } },
          from,
        )
      case 'error': {
        const requested = call.state().responses.requested?.eventId
        if (op.isOurs && requested !== undefined) this.requested = false
        return call.said({
          type: 'error',
          error: { code: op.code, message: 'no', event_id: op.isOurs ? (requested ?? 'x') : null },
        })
      }
      case 'expire':
        return call.give({ type: 'model.expires', session: call.state().model.session, inMs: 0 })
      case 'surface':
        return call.give({ type: 'memory.surfaced', text: 'a memory' })
      case 'key':
        return call.give({ type: 'keypad.told', text: 'The PIN was right.', asksReply: true })
      case 'transcribe':
        return call.heard(this.utterances.at(-1 - op.n) ?? 'u', 'words')
      case 'mark':
        for (const mark of this.pendingMarks.splice(0, op.n)) {
          this.ackedBytes.set(mark.item, mark.endBytes)
          this.observe(call.mark(mark.name))
        }
        return []
      case 'stale':
        for (const name of [...this.staleMarks.slice(-3), 'nobody']) this.observe(call.mark(name))
        return []
      case 'configure': {
        const session = this.opened.at(-1)
        if (session === undefined || this.closed.includes(session) || this.adopted === session) return []
        return call.configured(session)
      }
      case 'tool': {
        const callId = this.tools.at(-1) ?? 'c'
        const { stage, tools } = call.state()
        if (stage.name === 'live' && tools.running.some((running) => running.callId === callId))
          this.results.push(callId)
        return call.give({ type: 'tool.returned', callId, output: `result of ${callId}.` })
      }
      case 'drop': {
        const session = call.state().model.session
        for (const lost of this.responses) this.banned.add(lost.number)
        this.requested = false
        if (this.adopted === session) this.adopted = null
        this.closed.push(session)
        return call.give({ type: 'model.closed', session })
      }
      case 'refuse':
        if (!this.requested) return []
        this.requested = false
        return call.said({
          type: 'error',
          error: { code: 'conversation_already_has_active_response', message: 'busy' },
        })
      case 'tick':
        return this.tick(op.n)
    }
  }

  tick(ms: number): readonly CallAction[] {
    const before = this.call.state().model.session
    const actions = this.call.after(ms)
    // A session that the machine gave up is lost like one that dropped.
    if (this.call.state().model.session !== before) {
      for (const lost of this.responses) this.banned.add(lost.number)
      this.requested = false
    }
    return actions
  }

  finish(): void {
    const { call } = this
    this.observe(call.give({ type: 'line.ended', reason: 'caller_hung_up' }))
    for (const op of ['speech', 'create', 'configure', 'tool', 'drop', 'commit'] as const) {
      const before = call.all.length
      this.do({ op })
      expect(call.all.length).toBe(before)
    }
    expect(facts(call.all, 'call.ended')).toHaveLength(1)
    const keys = call.all.flatMap((a) => (a.type === 'record' ? a.facts.map((f) => f.key) : []))
    const given = keys.filter((key) => key !== undefined)
    expect(new Set(given).size).toBe(given.length)
    const heard = new Set(facts(call.all, 'call.utterance.heard').map((fact) => fact.facts.itemId))
    for (const utterance of this.utterances) expect(heard).toContain(utterance)
    const posted = JSON.stringify(sent(call.all, 'conversation.item.create'))
    const kept = call.state().tools.returned.map(({ output }) => output)
    for (const callId of this.results) {
      if (!kept.includes(`result of ${callId}.`)) expect(posted).toContain(`result of ${callId}.`)
    }
    const spoken = new Map(facts(call.all, 'call.reply.spoken').map((fact) => [fact.facts.itemId, fact]))
    for (const [itemId, bytes] of this.sentBytes) {
      // Less than a millisecond counts as nothing sent.
      if (itemId === '' || bytes < muLaw.bytesPerMs) continue
      const fact = spoken.get(itemId)
      expect(fact, itemId).toBeDefined()
      expect(fact?.facts.sentMs).toBe(Math.floor(bytes / muLaw.bytesPerMs))
    }
    for (const { facts: permanent, body } of spoken.values()) {
      expect(permanent.heardMs).toBeLessThanOrEqual(permanent.sentMs)
      expect(body.generatedText.startsWith(body.text)).toBe(true)
      if (permanent.responseId === null) expect(PHRASE_TEXTS).toContain(body.generatedText)
      else expect((this.texts.get(permanent.itemId) ?? '').startsWith(body.generatedText)).toBe(true)
    }
  }
}

test('keeps its promises in any order of deltas, marks, clears, speech and failures', () => {
  fc.assert(
    fc.property(fc.array(anyOp, { minLength: 30, maxLength: 200, size: 'max' }), (ops) => {
      const world = new World()
      world.do({ op: 'configure' })
      for (const op of ops) world.do(op)
      world.finish()
    }),
    { numRuns: 400 },
  )
})

test('ends an idle call, whatever came before', () => {
  fc.assert(
    fc.property(fc.array(anyOp, { maxLength: 100, size: 'max' }), (ops) => {
      const world = new World()
      world.do({ op: 'configure' })
      for (const op of ops) world.do(op)
      world.do({ op: 'stop' })
      world.do({ op: 'mark', n: Number.MAX_SAFE_INTEGER })
      const { call } = world
      for (const { callId } of call.state().tools.running) {
        call.give({ type: 'tool.returned', callId, output: 'result' })
      }
      for (let ticks = 0; ticks < 60; ticks += 1) {
        world.do({ op: 'tick', n: 5_000 })
        world.do({ op: 'mark', n: Number.MAX_SAFE_INTEGER })
      }
      expect(facts(call.all, 'call.ended')).toHaveLength(1)
    }),
    { numRuns: 300 },
  )
})

test('sends a reply without interruption whole, byte for byte', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ minLength: 8, maxLength: 3_000 }), { minLength: 1 }), (deltas) => {
      const call = startCall()
      call.configured()
      call.created('r1')
      for (const bytes of deltas) {
        const delta = Buffer.from(bytes).toString('base64')
        call.said({
          type: 'response.output_audio.delta',
          response_id: 'r1',
          item_id: 'i1',
          content_index: 0,
          delta,
        })
      }
      call.audioDone('r1', 'i1')
      call.done('r1')
      const out = call.all.flatMap((a) => (a.type === 'line.media' ? [Buffer.from(a.payload, 'base64')] : []))
      expect(Buffer.concat(out)).toEqual(Buffer.concat(deltas))
      call.playedAll()
      const total = deltas.reduce((sum, bytes) => sum + bytes.length, 0)
      expect(sent(call.all, 'conversation.item.truncate')).toEqual([])
      expect(facts(call.all, 'call.reply.spoken')).toMatchObject([
        { facts: { sentMs: Math.floor(total / 8), heardMs: Math.floor(total / 8), interrupted: false } },
      ])
    }),
  )
})
