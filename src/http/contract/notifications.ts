import { z } from '@hono/zod-openapi'
import { notificationKinds } from '../../../ledger/events/notification.ts'
import { answer, body, done, tagged } from './describe.ts'

const { del, get, post, put } = tagged('Notifications')

const notificationSchema = z
  .object({
    seq: z.int().describe('The fact that it is about'),
    kind: z.enum(notificationKinds),
    at: z.string(),
    title: z.string(),
    text: z.string().describe('Empty if the words were erased'),
    subject: z.string().nullable().describe('The timer, task or proposal'),
    occurrence: z.string().nullable().describe('Of a reminder: the occurrence that is due'),
  })
  .openapi('Notification')

export type Notification = z.output<typeof notificationSchema>

const kinds = z.array(z.enum(notificationKinds)).max(notificationKinds.length)

const subscriptionSchema = z
  .object({
    id: z.string(),
    sessionId: z.string(),
    current: z.boolean().describe('Whether it belongs to the session of this request'),
    kinds,
    createdAt: z.string(),
  })
  .openapi('PushSubscription')

export const list = get('/api/notifications', {
  summary: 'List what the owner has not seen of the last day',
  responses: answer(z.object({ notifications: z.array(notificationSchema) }), 'Oldest first'),
})

export const find = get('/api/notifications/{seq}', {
  summary: 'Read a notification by the seq that a push carries',
  request: { params: z.object({ seq: z.coerce.number().int().min(1) }) },
  responses: answer(notificationSchema, 'The notification', 404),
})

export const see = post('/api/notifications/seen', {
  summary: 'Report that the owner has seen notifications: nothing more is sent about them',
  request: { body: body(z.object({ seqs: z.array(z.int().min(1)).min(1).max(1_000) })) },
  responses: done('Recorded', 400),
})

export const pushState = get('/api/push', {
  summary: 'List the browsers that are notified by push',
  responses: answer(
    z.object({
      publicKey: z
        .string()
        .nullable()
        .describe('The VAPID key of this service, as base64url; null before it is made'),
      subscriptions: z.array(subscriptionSchema),
    }),
    'The subscriptions',
  ),
})

export const makeKey = post('/api/push/key', {
  summary: 'Get the VAPID key to subscribe with; the first call makes it',
  responses: answer(z.object({ publicKey: z.string() }), 'The key', 409),
})

const endpoint = z.url({ protocol: /^https$/ }).max(2_000)
/** A key of a browser, as base64url. */
const key = z.string().regex(/^[\w-]{16,120}={0,2}$/)

export const subscribe = put('/api/push', {
  summary: 'Notify this browser by push. Its endpoint must be https and a public address',
  request: {
    body: body(
      z.object({
        endpoint,
        keys: z.object({ p256dh: key, auth: key }),
        kinds: kinds.default([...notificationKinds]),
      }),
    ),
  },
  responses: answer(subscriptionSchema, 'The subscription', 400, 409),
})

const params = z.object({ id: z.string().max(200) })

export const choose = put('/api/push/{id}', {
  summary: 'Choose what a browser is notified about',
  request: { params, body: body(z.object({ kinds })) },
  responses: done('Changed', 400, 404),
})

export const unsubscribe = del('/api/push/{id}', {
  summary: 'Stop notifying a browser',
  request: { params },
  responses: done('Stopped', 404),
})

export const copyRenewed = put('/api/offline-copy', {
  summary: 'Report that this device has replaced its offline copy, so that receipts of erasures can name it',
  request: { body: body(z.object({ device: z.string().trim().min(1).max(100) })) },
  responses: done('Noted', 400),
})

export const copyRemoved = del('/api/offline-copy', {
  summary: 'Report that this device has removed its offline copy',
  responses: done('Noted'),
})
