/**
 * English words that say nothing about the topic of a cue, including courtesies. Other languages need no
 * list: in a large corpus, common words weigh next to nothing.
 */
export const STOP_WORDS: ReadonlySet<string> = new Set(
  `a about above after again against all also am an and any are aren as at be because been before being below
  between both but by can cannot could couldn d did didn do does doesn doing don down during each either else etc
  ever few for from further get gets getting got had hadn has hasn have haven having he her here hers herself him
  himself his how i if in into is isn it its itself ive just kind let ll m many may me mention mentioned might more
  most much must my myself no nor not of off oh ok okay on once one only or other ought our ours ourselves out over
  own please re really said same say says shall she should shouldn since so some sort such t than that the their
  theirs them themselves then there these they this those though through to too under until up upon us ve very was
  wasn we were weren what when where whether which while who whom whose why will with would wouldn yes yet you your
  yours yourself yourselves according s
  alright awesome bye cool goodbye great haha hello hey hi lol nice nope ok please sorry sounds sure thank thanks
  welcome wow yeah yep`.split(/\s+/),
)
