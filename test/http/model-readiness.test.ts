import { expect, test } from 'vitest'
import { startWithModel } from '../browser/model.ts'
import { httpFaults } from '../doubles/model/script.ts'

test('reports the model by the outcome of the last turn, and stays ready if it failed', async () => {
  const { service, model } = await startWithModel()
  const ready = async () => {
    const { status, json } = await service.client.get('/ready')
    return { status, model: json.checks.model }
  }
  const name = `${new URL(model.url).host}/test-model`
  expect(await ready()).toEqual({ status: 200, model: { ok: true, detail: name } })
  model.answerWith(() => ({ fault: httpFaults.unauthorised() }))
  await service.client.post('/api/chat', { content: 'Are you there?' })
  expect(await ready()).toEqual({
    status: 200,
    model: { ok: false, detail: `${name}: the last turn failed (auth)` },
  })
  model.answerWith(() => ({ text: 'Yes.' }))
  await service.client.post('/api/chat', { content: 'And now?' })
  expect(await ready()).toMatchObject({ status: 200, model: { ok: true } })
  // A declined request says nothing about the service.
  model.answerWith(() => ({ refusal: 'No.' }))
  await service.client.post('/api/chat', { content: 'Please.' })
  expect(await ready()).toMatchObject({ status: 200, model: { ok: true } })
})
