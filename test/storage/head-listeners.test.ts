import { describe, expect, test } from 'vitest'
import { areaOf, catalogue, type EventType } from '../../ledger/events/catalogue.ts'
import { areasOf, createHeadListeners } from '../../src/storage/head-listeners.ts'

describe('who hears that the head moved', () => {
  test('those who asked for an area that moved, and those who asked for all', () => {
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

  test('everybody, when it is not known what moved; nobody, when nothing did', () => {
    const listeners = createHeadListeners()
    let heard = 0
    listeners.subscribe(() => (heard += 1), ['turn'])
    listeners.subscribe(() => (heard += 1))
    listeners.notify(new Set())
    expect(heard).toBe(0)
    listeners.notify(null)
    expect(heard).toBe(2)
  })

  test('whoever unsubscribes hears no more, and the others do not notice', () => {
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

  test('the area of every type in the catalogue is the word before its point', () => {
    for (const type of Object.keys(catalogue)) expect(areaOf(type as EventType)).toBe(type.split('.')[0])
    expect([...areasOf([{ type: 'turn.started' }, { type: 'not.known' }, { type: 'erased' }])]).toEqual([
      'turn',
      'erased',
    ])
  })
})
