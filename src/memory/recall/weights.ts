import type { Feature } from './features.ts'

export type Weights = Readonly<Record<Feature, number>>

export const WEIGHTS: Weights = {
  own: 0.8,
  root: 1.3,
  window: 1.5,
  relatedWindow: 1.9,
  relatedBefore: 1.6,
  sittingBest: 1.4,
  answers: 1.5,
  speaker: 2.5,
  dateInside: 3.4,
  dateDay: 1.6,
  dateAfter: 1.4,
  tellsTime: 1.8,
  tellsNumber: 1,
  tellsName: 1.8,
  quotesTitle: 0.9,
  endsAsking: -0.6,
  acknowledges: -0.3,
  opening: 0.7,
  memory: 0.5,
}
