import type { Candidate } from '../../../src/memory/learn/candidate.ts'
import type { Pool } from './pools.ts'

/** A sentence about a value `{v}`, the words that a model would quote, and how it would put them. */
export type Wording = {
  readonly say: string
  /** The whole message if omitted. */
  readonly quote?: string
  readonly text: string
}

/** A true statement about the owner, in one language, with ways to repeat it. */
export type FactKind = {
  readonly pool: Pool
  readonly slot: string
  readonly kind?: Candidate['kind']
  readonly subject?: string
  readonly single?: true
  readonly first: readonly Wording[]
  /** Paraphrases for another day. */
  readonly again: readonly Wording[]
  /** Statements that correct the value. */
  readonly corrected?: readonly Wording[]
}

const same = (say: string, text: string, quote?: string): Wording =>
  quote === undefined ? { say, text } : { say, text, quote }

export const FACTS: readonly FactKind[] = [
  {
    pool: 'city',
    slot: 'residence',
    single: true,
    first: [
      same('I live in {v}, near the old harbour.', 'Lives in {v}', 'I live in {v}'),
      same('Just so you have it, home for me is {v}.', 'Home is {v}', 'home for me is {v}'),
      same('We settled in {v} a while back and never left.', 'Settled in {v}', 'We settled in {v}'),
    ],
    again: [
      same('It rained all day here in {v}, where I live.', 'Lives in {v}', 'here in {v}, where I live'),
      same('As a resident of {v} I know the trams by heart.', 'Resident of {v}'),
    ],
    corrected: [
      same('Actually, we moved: I live in {v} now.', 'Lives in {v}', 'I live in {v} now'),
      same(
        'Correction, my place is in {v} these days, not where it was.',
        'Place is in {v}',
        'my place is in {v} these days',
      ),
      same("I've relocated to {v} since then.", 'Relocated to {v}'),
    ],
  },
  {
    pool: 'company',
    slot: 'employer',
    single: true,
    first: [
      same("I'm a technician at {v}.", 'Technician at {v}'),
      same('I earn my living at {v}, in the lab.', 'Works at {v}', 'I earn my living at {v}'),
    ],
    again: [
      same('My shift at {v} starts early again.', 'Has shifts at {v}', 'My shift at {v}'),
      same('Another long day at {v}, my employer.', 'Employer is {v}', '{v}, my employer'),
    ],
    corrected: [
      same('I quit and started at {v} this week.', 'Started at {v}', 'started at {v} this week'),
      same("New job, by the way: I'm with {v} now.", 'With {v}', "I'm with {v} now"),
    ],
  },
  {
    pool: 'phone',
    slot: 'phone number',
    single: true,
    first: [
      same('You can reach me at {v}, that is my mobile.', 'Mobile number is {v}'),
      same('My phone number is {v}.', 'Phone number: {v}'),
    ],
    again: [same('If in doubt ring my mobile, {v}.', 'Mobile is {v}', 'my mobile, {v}')],
    corrected: [
      same('I got a new number: {v}.', 'New number is {v}'),
      same("My number changed, it's {v} now.", 'Number is {v}'),
    ],
  },
  {
    pool: 'code',
    slot: 'locker code',
    single: true,
    first: [
      same('For the record, my locker code is {v}.', 'The locker code is {v}', 'my locker code is {v}'),
    ],
    again: [
      same('The locker opens with {v}, as I said.', 'The locker opens with {v}', 'The locker opens with {v}'),
    ],
    corrected: [
      same('They changed my locker code, it is {v} now.', 'The locker code is {v}', 'it is {v} now'),
    ],
  },
  {
    pool: 'food',
    slot: 'allergy',
    first: [
      same(
        "I'm badly allergic to {v}, please keep it in mind.",
        'Allergic to {v}',
        "I'm badly allergic to {v}",
      ),
      same('{v} give me hives, I have an allergy.', 'Has an allergy to {v}'),
    ],
    again: [
      same('No {v} for me, remember the allergy.', 'Allergic to {v}', 'No {v} for me, remember the allergy'),
      same('With my {v} allergy I check every label.', 'Has a {v} allergy', 'my {v} allergy'),
    ],
  },
  {
    pool: 'food',
    slot: 'taste',
    kind: 'preference',
    first: [
      same("I can't stand {v}.", "Can't stand {v}"),
      same('To be frank, {v} are not my thing, I never eat them.', 'Never eats {v}'),
    ],
    again: [
      same(
        'Ugh, {v} again at the canteen. I do not like {v} one bit.',
        'Does not like {v}',
        'I do not like {v} one bit',
      ),
    ],
  },
  {
    pool: 'hobby',
    slot: 'hobby',
    kind: 'preference',
    first: [
      same('I took up {v} in spring and I love it.', 'Took up {v} in spring', 'I took up {v} in spring'),
      same('My weekends go to {v}, mostly.', 'Weekends go to {v}'),
    ],
    again: [
      same(
        'I spent all of Sunday on {v}, my favourite pastime.',
        'Favourite pastime is {v}',
        '{v}, my favourite pastime',
      ),
    ],
  },
  {
    pool: 'instrument',
    slot: 'instrument',
    kind: 'preference',
    first: [same('I play the {v} in a small ensemble.', 'Plays the {v} in a small ensemble')],
    again: [
      same('Practising the {v} again tonight, as I do most evenings.', 'Practises the {v} most evenings'),
    ],
  },
  {
    pool: 'person',
    slot: 'sister',
    kind: 'relation',
    single: true,
    first: [same('My little sister is called {v}.', 'Little sister is called {v}')],
    again: [same('{v}, my sister, sends her regards.', 'Sister is {v}', '{v}, my sister')],
  },
  {
    pool: 'person',
    slot: 'manager',
    kind: 'relation',
    single: true,
    first: [same('I report to {v}, who runs our team.', 'Reports to {v}', 'I report to {v}')],
    again: [same('{v} is my manager, in case you wonder.', '{v} is the manager', '{v} is my manager')],
    corrected: [
      same('We were reorganised and my manager is {v} now.', 'The manager is {v}', 'my manager is {v} now'),
    ],
  },
  {
    pool: 'animal',
    slot: 'pet',
    kind: 'relation',
    first: [
      same(
        'We keep a {v} in the garden, the kids insisted.',
        'Keeps a {v} in the garden',
        'We keep a {v} in the garden',
      ),
    ],
    again: [same('Our {v} escaped again this morning.', 'Has a {v}', 'Our {v}')],
  },
  {
    pool: 'car',
    slot: 'car',
    single: true,
    first: [same('I drive an old {v} to work.', 'Drives an old {v}')],
    again: [same('The {v} I drive is in the garage again.', 'Drives a {v}', 'The {v} I drive')],
    corrected: [same('I sold the old one; now I drive a {v}.', 'Drives a {v}', 'now I drive a {v}')],
  },
  {
    pool: 'drug',
    slot: 'medication',
    kind: 'procedure',
    first: [same('Every morning I take {v} with a glass of water.', 'Takes {v} every morning')],
    again: [same('I picked up my {v} from the pharmacy, I take it each morning.', 'Takes {v} each morning')],
  },
  {
    pool: 'colour',
    slot: 'favourite colour',
    kind: 'preference',
    single: true,
    first: [
      same(
        'If I had to name my favourite colour it is {v}.',
        'Favourite colour is {v}',
        'my favourite colour it is {v}',
      ),
    ],
    again: [
      same(
        'Paint it {v}, you know it is my favourite colour.',
        'Favourite colour is {v}',
        '{v}, you know it is my favourite colour',
      ),
    ],
  },
  {
    pool: 'stadt',
    slot: 'Zweitwohnung',
    single: true,
    first: [same('Ich habe eine Zweitwohnung in {v}.', 'Hat eine Zweitwohnung in {v}')],
    again: [
      same(
        'Am Wochenende bin ich in meiner Wohnung in {v}.',
        'Hat eine Wohnung in {v}',
        'meiner Wohnung in {v}',
      ),
    ],
    corrected: [
      same(
        'Die Zweitwohnung ist jetzt in {v}, ich bin umgezogen.',
        'Die Zweitwohnung ist in {v}',
        'Die Zweitwohnung ist jetzt in {v}',
      ),
    ],
  },
  {
    pool: 'stadt',
    slot: 'Studium',
    first: [same('Studiert habe ich seinerzeit in {v}.', 'Hat in {v} studiert')],
    again: [
      same(
        'Damals, als ich in {v} studiert habe, war alles billiger.',
        'Hat in {v} studiert',
        'ich in {v} studiert habe',
      ),
    ],
  },
  {
    pool: 'ville',
    slot: 'ville natale',
    single: true,
    first: [
      same('Je suis originaire de {v}.', 'Est originaire de {v}'),
      same('Je suis né à {v}, en hiver.', 'Né à {v}', 'Je suis né à {v}'),
    ],
    again: [same('{v}, ma ville natale, me manque un peu.', 'Ville natale : {v}', '{v}, ma ville natale')],
  },
  {
    pool: 'ciudad',
    slot: 'casa de verano',
    single: true,
    first: [same('Tenemos una casa de verano en {v}.', 'Tiene una casa de verano en {v}')],
    again: [same('Pasamos agosto en nuestra casa de {v}.', 'Tiene casa en {v}', 'nuestra casa de {v}')],
  },
  {
    pool: 'город',
    slot: 'дача',
    first: [same('У меня есть квартира в {v}.', 'Есть квартира в {v}')],
    again: [same('Моя квартира в {v} сейчас пустует.', 'Квартира в {v}', 'Моя квартира в {v}')],
  },
  {
    pool: '都市',
    slot: '出身',
    first: [same('私は{v}で生まれました。', '{v}で生まれた', '私は{v}で生まれました')],
    again: [same('{v}出身なので、よく帰ります。', '{v}出身', '{v}出身')],
  },
  {
    pool: '城市',
    slot: '家乡',
    first: [same('我的老家在{v}。', '老家在{v}', '我的老家在{v}')],
    again: [same('我是{v}人，口味偏重。', '是{v}人', '我是{v}人')],
  },
  {
    pool: '도시',
    slot: '고향',
    first: [same('제 고향은 {v}입니다.', '고향은 {v}')],
    again: [same('저는 {v}에서 자랐어요.', '{v}에서 자람')],
  },
  {
    pool: 'مدينة',
    slot: 'المولد',
    first: [same('ولدت في {v}.', 'ولد في {v}')],
    again: [same('أنا من {v} أصلاً.', 'من {v} أصلاً')],
  },
  {
    pool: 'עיר',
    slot: 'עבודה',
    first: [same('אני עובד ב{v}.', 'עובד ב{v}')],
    again: [same('המשרד שלי נמצא ב{v}.', 'המשרד נמצא ב{v}')],
  },
  {
    pool: 'शहर',
    slot: 'काम',
    first: [same('मैं {v} में काम करता हूँ।', '{v} में काम करता है')],
    again: [same('मेरा दफ़्तर {v} में है।', 'दफ़्तर {v} में है')],
  },
  {
    pool: 'πόλη',
    slot: 'σπουδές',
    first: [same('Σπούδασα στην {v}.', 'Σπούδασε στην {v}')],
    again: [same('Τα φοιτητικά μου χρόνια ήταν στην {v}.', 'Φοιτητικά χρόνια στην {v}')],
  },
  {
    pool: 'ชื่อ',
    slot: 'ลูก',
    kind: 'relation',
    first: [same('ลูกสาวของฉันชื่อ{v}', 'ลูกสาวชื่อ{v}')],
    again: [same('วันนี้{v}ลูกสาวของฉันไปโรงเรียน', 'ลูกสาวชื่อ{v}', '{v}ลูกสาวของฉัน')],
  },
]

/** About somebody else: true with its subject, wrong if stored as the owner's. */
export const OF_OTHERS: readonly (FactKind & { readonly mentions: string; readonly wrong: string })[] = [
  {
    pool: 'city',
    slot: 'residence',
    subject: 'aunt Hilde',
    mentions: 'Hilde',
    wrong: 'Lives in {v}',
    first: [same('My aunt Hilde has lived in {v} all her life.', 'Aunt Hilde has lived in {v} all her life')],
    again: [],
  },
  {
    pool: 'food',
    slot: 'allergy',
    subject: 'nephew',
    mentions: 'nephew',
    wrong: 'Allergic to {v}',
    first: [same('My nephew breaks out in spots from {v}, he is allergic.', 'The nephew is allergic to {v}')],
    again: [],
  },
  {
    pool: 'company',
    slot: 'employer',
    subject: 'flatmate',
    mentions: 'flatmate',
    wrong: 'Works at {v}',
    first: [same('My flatmate got hired by {v} yesterday.', 'The flatmate got hired by {v}')],
    again: [],
  },
  {
    pool: 'stadt',
    slot: 'Wohnort',
    subject: 'Onkel',
    mentions: 'Onkel',
    wrong: 'Wohnt in {v}',
    first: [same('Mein Onkel wohnt seit Jahren in {v}.', 'Der Onkel wohnt in {v}')],
    again: [],
  },
  {
    pool: 'ville',
    slot: 'résidence',
    subject: 'cousine',
    mentions: 'cousine',
    wrong: 'Habite à {v}',
    first: [same('Ma cousine habite à {v} avec ses enfants.', 'Sa cousine habite à {v}')],
    again: [],
  },
  {
    pool: 'instrument',
    slot: 'instrument',
    subject: 'dad',
    mentions: 'dad',
    wrong: 'Plays the {v}',
    first: [same('My dad plays the {v} in a brass band.', 'Dad plays the {v} in a brass band')],
    again: [],
  },
]
