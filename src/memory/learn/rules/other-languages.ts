import type { LanguageCode } from '../../../text/lexicon.ts'
import { type Rule, valueRule } from './rule.ts'

/** The simplest statements in other languages: name, residence, employer, tastes, allergies. */

const NAME = { kind: 'identity', slot: 'name', singleValued: true } as const
const RESIDENCE = { kind: 'identity', slot: 'residence', singleValued: true } as const
const EMPLOYER = { kind: 'identity', slot: 'employer', singleValued: true } as const
const ALLERGY = { kind: 'identity', slot: 'allergy' } as const
const TASTE = { kind: 'preference', slot: 'taste' } as const
const BIRTHDAY = { kind: 'identity', slot: 'birthday', singleValued: true } as const
const PHONE = { kind: 'identity', slot: 'phone number', singleValued: true } as const

const isShort = (value: string) => value.split(/\s+/).length <= 5

export const rulesOf: { readonly [Code in LanguageCode]?: readonly Rule[] } = {
  de: [
    valueRule(/^(?:ich heiße|ich heisse|mein name ist) (?<value>.+)$/iu, NAME, isShort),
    valueRule(
      /^ich (?:wohne|lebe) (?:jetzt |inzwischen |aktuell )?(?:in|im|bei) (?<value>.+)$/iu,
      RESIDENCE,
      isShort,
    ),
    valueRule(
      /^ich bin (?:gerade |jetzt |kürzlich )?nach (?<value>.+?) (?:gezogen|umgezogen)$/iu,
      RESIDENCE,
      isShort,
    ),
    valueRule(/^ich arbeite (?:jetzt )?(?:bei|für) (?<value>.+)$/iu, EMPLOYER, isShort),
    valueRule(
      /^ich bin (?:nicht )?(?:stark )?(?:gegen (?<value>.+) allergisch|allergisch gegen .+)$/iu,
      ALLERGY,
      isShort,
    ),
    valueRule(/^ich bin (?:nicht )?(?:stark )?allergisch (?:gegen|auf) (?<value>.+)$/iu, ALLERGY, isShort),
    valueRule(/^ich (?:mag|liebe|hasse) (?:keinen |keine |kein |nicht )?(?<value>.+)$/iu, TASTE, isShort),
    valueRule(/^ich (?:esse|trinke) (?:nie |niemals )?(?:keinen|keine|kein) (?<value>.+)$/iu, TASTE, isShort),
    valueRule(/^(?:mein geburtstag ist|ich bin)(?: am)? (?<value>\d.+?)(?: geboren)?$/iu, BIRTHDAY),
    valueRule(/^meine (?:neue )?(?:telefon|handy)nummer (?:ist|lautet)(?: jetzt)? (?<value>.+)$/iu, PHONE),
  ],
  fr: [
    valueRule(/^(?:je m'appelle|mon nom est|je me prénomme) (?<value>.+)$/iu, NAME, isShort),
    valueRule(
      /^(?:j'habite|je vis|je réside) (?:maintenant )?(?:à|en|au|aux|dans) (?<value>.+)$/iu,
      RESIDENCE,
      isShort,
    ),
    valueRule(/^j'ai déménagé (?:à|en|au|aux) (?<value>.+)$/iu, RESIDENCE, isShort),
    valueRule(/^je travaille (?:maintenant )?(?:chez|pour) (?<value>.+)$/iu, EMPLOYER, isShort),
    valueRule(
      /^je (?:ne )?suis (?:pas )?allergique (?:à la|à l'|à|au|aux) ?(?<value>.+)$/iu,
      ALLERGY,
      isShort,
    ),
    valueRule(
      /^(?:j'aime|j'adore|je déteste|je n'aime pas)(?: beaucoup| bien)? (?<value>.+)$/iu,
      TASTE,
      isShort,
    ),
    valueRule(
      /^mon (?:nouveau )?numéro(?: de téléphone)? est(?: maintenant)?(?: le)? (?<value>.+)$/iu,
      PHONE,
    ),
  ],
  es: [
    valueRule(/^(?:me llamo|mi nombre es) (?<value>.+)$/iu, NAME, isShort),
    valueRule(/^(?:yo )?vivo (?:ahora )?en (?<value>.+)$/iu, RESIDENCE, isShort),
    valueRule(/^me (?:he mudado|mudé) a (?<value>.+)$/iu, RESIDENCE, isShort),
    valueRule(/^(?:yo )?trabajo (?:ahora )?(?:para|en) (?<value>\p{Lu}.+)$/u, EMPLOYER, isShort),
    valueRule(/^(?:no )?soy alérgic[oa] (?:a la|a las|a los|al|a) (?<value>.+)$/iu, ALLERGY, isShort),
    valueRule(/^(?:no )?me (?:gusta|gustan|encanta|encantan) (?<value>.+)$/iu, TASTE, isShort),
    valueRule(/^(?:yo )?odio (?<value>.+)$/iu, TASTE, isShort),
    valueRule(
      /^mi (?:nuevo )?(?:número|teléfono|número de teléfono) es(?: ahora)?(?: el)? (?<value>.+)$/iu,
      PHONE,
    ),
  ],
  it: [
    valueRule(/^(?:mi chiamo|il mio nome è) (?<value>.+)$/iu, NAME, isShort),
    valueRule(/^(?:io )?(?:abito|vivo) (?:ora |adesso )?(?:a|ad|in) (?<value>.+)$/iu, RESIDENCE, isShort),
    valueRule(/^mi sono trasferit[oa] (?:a|ad|in) (?<value>.+)$/iu, RESIDENCE, isShort),
    valueRule(
      /^(?:non )?sono allergic[oa] (?:al|alla|alle|ai|agli|allo|all'|a) ?(?<value>.+)$/iu,
      ALLERGY,
      isShort,
    ),
    valueRule(/^(?:non )?mi (?:piace|piacciono) (?<value>.+)$/iu, TASTE, isShort),
    valueRule(/^(?:io )?odio (?<value>.+)$/iu, TASTE, isShort),
  ],
  pt: [
    valueRule(/^(?:me chamo|chamo-me|meu nome é|o meu nome é) (?<value>.+)$/iu, NAME, isShort),
    valueRule(/^(?:eu )?(?:moro|vivo) (?:agora )?(?:em|no|na) (?<value>.+)$/iu, RESIDENCE, isShort),
    valueRule(/^(?:eu )?(?:me mudei|mudei-me) para (?<value>.+)$/iu, RESIDENCE, isShort),
    valueRule(/^(?:não )?sou alérgic[oa] (?:a|à|ao|aos|às) (?<value>.+)$/iu, ALLERGY, isShort),
    valueRule(/^(?:eu )?(?:não )?(?:gosto de|adoro|odeio|detesto) (?<value>.+)$/iu, TASTE, isShort),
  ],
  nl: [
    valueRule(/^(?:ik heet|mijn naam is) (?<value>.+)$/iu, NAME, isShort),
    valueRule(/^ik woon (?:nu )?in (?<value>.+)$/iu, RESIDENCE, isShort),
    valueRule(/^ik ben (?:niet )?allergisch voor (?<value>.+)$/iu, ALLERGY, isShort),
    valueRule(/^ik (?:haat|hou van|hou niet van) (?<value>.+)$/iu, TASTE, isShort),
  ],
  sv: [
    valueRule(/^(?:jag heter|mitt namn är) (?<value>.+)$/iu, NAME, isShort),
    valueRule(/^jag bor (?:nu )?i (?<value>.+)$/iu, RESIDENCE, isShort),
    valueRule(/^jag är (?:inte )?allergisk mot (?<value>.+)$/iu, ALLERGY, isShort),
    valueRule(/^jag (?:gillar|älskar|hatar)(?: inte)? (?<value>.+)$/iu, TASTE, isShort),
  ],
  pl: [
    valueRule(/^(?:nazywam się|mam na imię) (?<value>.+)$/iu, NAME, isShort),
    valueRule(/^mieszkam (?:teraz )?(?:w|we) (?<value>.+)$/iu, RESIDENCE, isShort),
    valueRule(/^(?:nie )?(?:lubię|kocham|nienawidzę) (?<value>.+)$/iu, TASTE, isShort),
  ],
  ru: [
    valueRule(/^меня зовут (?<value>.+)$/iu, NAME, isShort),
    valueRule(/^я (?:сейчас |теперь )?живу во? (?<value>.+)$/iu, RESIDENCE, isShort),
    valueRule(/^я переехала? во? (?<value>.+)$/iu, RESIDENCE, isShort),
    valueRule(/^у меня (?:нет )?аллерги[ия] на (?<value>.+)$/iu, ALLERGY, isShort),
    valueRule(/^я (?:очень )?(?:не )?(?:люблю|обожаю|ненавижу) (?<value>.+)$/iu, TASTE, isShort),
  ],
  uk: [
    valueRule(/^мене звати (?<value>.+)$/iu, NAME, isShort),
    valueRule(/^я (?:зараз |тепер )?живу [ув] (?<value>.+)$/iu, RESIDENCE, isShort),
    valueRule(/^я (?:дуже )?(?:не )?(?:люблю|обожнюю|ненавиджу) (?<value>.+)$/iu, TASTE, isShort),
  ],
  zh: [
    valueRule(/^我(?:叫|的名字是|的名字叫)(?<value>\p{Script=Han}{2,4})$/u, NAME),
    valueRule(/^我(?:现在|現在)?住在(?<value>.{2,20})$/u, RESIDENCE),
    valueRule(/^我搬到了?(?<value>.{2,20}?)了?$/u, RESIDENCE),
    valueRule(/^我(?:不)?(?:喜欢|喜歡|爱|愛|讨厌|討厭)(?<value>.{1,20})$/u, TASTE),
    valueRule(/^我(?:不)?(?:对|對)(?<value>.{1,12})(?:过敏|過敏)$/u, ALLERGY),
  ],
  ja: [
    valueRule(/^私の名前は(?<value>.{1,20}?)(?:です|といいます)$/u, NAME),
    valueRule(/^(?:私は|僕は|俺は)?(?:今、?)?(?<value>.{1,20}?)に住んでいます$/u, RESIDENCE),
    valueRule(/^(?:私は|僕は|俺は)?(?<value>.{1,20}?)が(?:大好き|好き|嫌い|大嫌い)(?:です|だ)?$/u, TASTE),
    valueRule(/^(?:私は|僕は|俺は)?(?<value>.{1,12}?)アレルギー(?:です|があります)$/u, ALLERGY),
  ],
  ko: [
    valueRule(/^(?:제|내) 이름은 (?<value>.{1,12}?)(?:입니다|이에요|예요|이야|야)$/u, NAME),
    valueRule(
      /^(?:저는|나는|전|난) (?:지금 )?(?<value>.{1,16}?)에 (?:살아요|살고 있어요|삽니다|살아)$/u,
      RESIDENCE,
    ),
    valueRule(
      /^(?:저는|나는|전|난) (?<value>.{1,16}?)(?:을|를) (?:좋아해요|좋아합니다|좋아해|싫어해요|싫어합니다|싫어해)$/u,
      TASTE,
    ),
  ],
}
