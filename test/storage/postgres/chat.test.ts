import { expect, onTestFinished, test } from 'vitest'
import { openSocket } from '../../http/web-socket.ts'
import { startDatabase } from '../../support/database.ts'
import { testDirectory } from '../../support/directory.ts'
import { openProxy } from '../../support/proxy.ts'
import { startWholeService } from '../../support/service.ts'
import { postgresEnvironment, shareLedger } from '../../support/shared-ledger.ts'

test('a message that may have been recorded is not reported as unsaved', async () => {
  const database = await startDatabase()
  const proxy = await openProxy(database.port)
  onTestFinished(() => proxy.close())
  const directory = testDirectory()
  await shareLedger(database, directory, 'commit')
  const environment = {
    ...postgresEnvironment(database, 'commit', 'here', 2),
    LEDGER_POSTGRES_URL: proxy.url,
  }
  const service = await startWholeService({ directory, environment })
  const socket = await openSocket(service, service.client)
  proxy.watch('quokkafelt', () => {
    proxy.isDeaf = true
    proxy.cut()
    return 'swallow'
  })
  socket.send(JSON.stringify({ type: 'chat.message', content: 'quokkafelt', clientMessageId: 'one' }))
  const refusal = () => socket.heard.find((text) => text.includes('chat.error'))
  await expect
    .poll(refusal)
    .toContain('PostgreSQL does not answer, so it is not certain whether this was saved. Try again later.')
  proxy.isDeaf = false
})
