import { expect, test } from 'vitest'
import { MAX_FAILURES } from '../../src/http/server/sign-in-throttle.ts'
import { openTab } from '../support/chat-tab.ts'
import { hasProgram } from '../support/programs.ts'
import { startProxy } from '../support/proxies.ts'
import { startWholeService } from '../support/service.ts'

for (const [program, example] of [
  ['caddy', 'Caddyfile'],
  ['nginx', 'nginx.conf'],
] as const)
  test.skipIf(!hasProgram(program))(
    `answers behind ${program}, set up by its example: WebSockets pass, and visitors keep their own address`,
    async () => {
      const service = await startWholeService({ environment: { TRUSTED_PROXY: '127.0.0.1' } })
      const port = await startProxy(example, [service.port])
      const origin = `http://127.0.0.1:${port}`
      const guess = (address: string) =>
        fetch(`${origin}/login`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', origin, 'x-forwarded-for': address },
          body: JSON.stringify({ password: 'a wrong password' }),
        })
      const tab = await openTab({ ...service, origin })
      tab.send({ type: 'chat.message', content: 'What is 17% of 80?', clientMessageId: 'one' })
      const isReply = ({ type, event }: { type: string; event?: { type: string } }) =>
        type === 'timeline.event' && event?.type === 'chat.reply.sent'
      expect((await tab.hear(isReply)).event.payload.text).toContain('13.6')

      // A visitor who names another address each time stays one client.
      for (let host = 0; host < MAX_FAILURES; host += 1) await guess(`203.0.113.${host}`)
      expect((await guess('203.0.113.200')).status).toBe(429)
      // Nor does the loopback address of the proxy open what only this machine may read.
      expect((await fetch(`${origin}/metrics`)).status).not.toBe(200)
    },
  )
