import { expect, test } from 'vitest'
import { languageOf, translateSentenceTo, translateTo } from '../../src/language/languages.ts'
import { createMsg, english } from '../../src/language/message.ts'
import { inLanguage, languageNow, msg } from '../../src/language/msg.ts'
import { pseudoText } from '../../src/language/pseudo.ts'
import { createSentences } from '../../src/language/sentences.ts'

test('chooses the first language that the browser accepts, unless the owner chose one', () => {
  expect(languageOf('browser', 'de-AT,de;q=0.9,en;q=0.8')).toBe('de')
  expect(languageOf('browser', 'fr, en-US;q=0.7, de;q=0.3')).toBe('en')
  expect(languageOf('browser', 'fr')).toBe('en')
  expect(languageOf('browser', 'en-XA')).toBe('en-XA')
  expect(languageOf('de', 'en-GB')).toBe('de')
  expect(languageOf('en', 'de')).toBe('en')
})

test('answers machines in English, whatever the owner chose', () => {
  expect(languageOf('de', undefined)).toBe('en')
  expect(languageOf('de', '*')).toBe('en')
})

test('translates a text with its values, in the order of the translation', () => {
  const translated = createMsg((text) => (text === '{0} of {1}' ? '{1}, davon {0}' : text))
  expect(translated`${3} of ${10}`).toBe('10, davon 3')
  expect(translated`${3} or ${10}`).toBe('3 or 10')
  expect(english`Every ${5} minutes`).toBe('Every 5 minutes')
})

test('uses the language of the request, and English outside of one', async () => {
  expect(await inLanguage('de', async () => msg`Notes`)).toBe('Notizen')
  expect(languageNow()).toBe('en')
  expect(msg`Notes`).toBe('Notes')
})

test('translates sentences that have their values, and leaves others alone', () => {
  const translate = createSentences({
    'Wait {0} seconds.': '{0} Sekunden warten.',
    'Done.': 'Fertig.',
    'It failed: {0}': 'Gescheitert: {0}',
    'no disk': 'keine Platte',
  })
  expect(translate('Wait 5 seconds.')).toBe('5 Sekunden warten.')
  expect(translate('It failed: Wait 5 seconds.')).toBe('Gescheitert: 5 Sekunden warten.')
  expect(translate('It failed: no disk')).toBe('Gescheitert: keine Platte')
  expect(translate('Wait 5 seconds. Done. (ENOSPC)')).toBe('5 Sekunden warten. Fertig. (ENOSPC)')
  expect(translate('Done. I changed three files.')).toBe('Done. I changed three files.')
  expect(translate('Wait, please.')).toBe('Wait, please.')
  expect(translate('Feed the cat')).toBe('Feed the cat')
  expect(translateSentenceTo('de', 'The note “{0}” is mine')).toBe('The note “{0}” is mine')
  expect(translateSentenceTo('de', 'Delete the note “Garden”')).toBe('Die Notiz „Garden“ löschen')
})

test('marks every text of the pseudo-language, and lengthens its words by 40 %', () => {
  expect(pseudoText('Every {0} minutes')).toBe('[Éṽéŕýŕý {0} ɱîñûţéšţéš]')
  expect(translateTo('en-XA', 'Notes')).toBe('[Ñöţéšéš]')
  expect(translateTo('en-XA', 'Not in the catalogue')).toBe('Not in the catalogue')
})
