import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type WebSocket, WebSocketServer } from 'ws'
import { type MediaStreamClient, openMediaStream } from './media-stream-client.ts'

type Frame = { event: string; mark?: { name: string }; media?: { payload: string; timestamp: string } }

let server: WebSocketServer
let socket: WebSocket
let received: Frame[]
let client: MediaStreamClient

beforeEach(async () => {
  received = []
  server = new WebSocketServer({ host: '127.0.0.1', port: 0 })
  await new Promise((resolve) => server.once('listening', resolve))
  const connection = new Promise<WebSocket>((resolve) => server.once('connection', resolve))
  server.on('connection', (opened) => {
    opened.on('message', (data) => received.push(JSON.parse(data.toString()) as Frame))
  })
  const url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}`
  client = await openMediaStream({ url, callSid: 'CA1', streamSid: 'MZ1', token: 't', factor: 10 })
  socket = await connection
})

afterEach(async () => {
  client.drop()
  await new Promise((resolve) => server.close(resolve))
})

const send = (event: string, fields: object = {}) =>
  socket.send(JSON.stringify({ event, streamSid: 'MZ1', ...fields }))
const media = (ms: number, value: number) =>
  send('media', { media: { payload: Buffer.alloc(ms * 8, value).toString('base64') } })
const mark = (name: string) => send('mark', { mark: { name } })
const marks = () => received.flatMap((frame) => (frame.mark ? [frame.mark.name] : []))

test('opens with connected and start, then sends a frame for every 20 ms of its time', async () => {
  const media = () => received.flatMap((frame) => (frame.media ? [Number(frame.media.timestamp)] : []))
  await client.until('some frames are there', () => media().length >= 5)
  expect(received.slice(0, 2).map((frame) => frame.event)).toEqual(['connected', 'start'])
  expect(media().slice(0, 5)).toEqual([0, 20, 40, 60, 80])
})

test('returns a mark once all audio before it was played, and not earlier', async () => {
  media(400, 7)
  mark('first')
  media(400, 8)
  mark('second')
  await client.until('the first is back', () => marks().length === 1)
  const playedMs = client.heardBytes().length / 8
  expect(playedMs).toBeGreaterThanOrEqual(400)
  expect(playedMs).toBeLessThan(800)
  await client.until('the second is back', () => marks().length === 2)
  expect(client.heardBytes()).toEqual(Buffer.concat([Buffer.alloc(3_200, 7), Buffer.alloc(3_200, 8)]))
})

test('returns a mark at once if nothing is queued before it', async () => {
  mark('now')
  await client.until('it is back', () => marks().length === 1)
  expect(client.heardBytes()).toHaveLength(0)
})

test('discards queued audio on a clear and returns every pending mark', async () => {
  media(400, 7)
  mark('a')
  media(4_000, 8)
  mark('b')
  mark('c')
  await client.until('some was played', () => client.heardBytes().length > 0)
  send('clear')
  await client.until('all marks are back', () => marks().length === 3)
  expect(marks()).toEqual(['a', 'b', 'c'])
  expect(client.heardBytes().length).toBeLessThan(4_400 * 8)
  const heard = client.heardBytes().length
  await client.wait(400)
  expect(client.heardBytes()).toHaveLength(heard)
})
