import { describe, expect, test } from 'vitest'
import { areaOf, catalogue, type EventType } from '../../ledger/events/catalogue.ts'
import { areasOf, createHeadListeners } from '../../src/storage/head-listeners.ts'

describe('head listeners', () => {
  test('notify those who subscribed to a changed area, and those who subscribed to all', () => {
    const listeners = createHeadListeners()
    const heard: string[] = []
    listeners.subscribe(() => heard.push('all'))
    listeners.subscribe(() => heard.push('turns'), ['turn'])
    listeners.subscribe(() => heard.push('texts and tasks'), ['sms', 'task'])
    listeners.notify(new Set(['turn']))
    expect(heard).toEqual(['all', 'turns'])
    heard.length = 0
    listeners.notify(new Set(['task', 'delivery']))
    expect(heard).toEqual(['all', 'texts and tasks'])
  })

  test('notify everyone if the areas are unknown, and no one if nothing changed', () => {
    const listeners = createHeadListeners()
    let heard = 0
    listeners.subscribe(() => (heard += 1), ['turn'])
    listeners.subscribe(() => (heard += 1))
    listeners.notify(new Set())
    expect(heard).toBe(0)
    listeners.notify(null)
    expect(heard).toBe(2)
  })

  test('do not notify a listener that unsubscribed, and still notify the others', () => {
    const listeners = createHeadListeners()
    const heard: string[] = []
    const end = listeners.subscribe(() => {
      heard.push('once')
      end()
    })
    listeners.subscribe(() => heard.push('always'))
    listeners.notify(null)
    listeners.notify(null)
    expect(heard).toEqual(['once', 'always', 'always'])
  })

  test('derive the area of every event type from the word before its first dot', () => {
    for (const type of Object.keys(catalogue)) expect(areaOf(type as EventType)).toBe(type.split('.')[0])
    expect([...areasOf([{ type: 'turn.started' }, { type: 'not.known' }, { type: 'erased' }])]).toEqual([
      'turn',
      'erased',
    ])
  })
})
