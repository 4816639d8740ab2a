import { stemOf } from '../../../projections/recall-text.ts'

/**
 * Everyday English words, one topic per line: a question about "pets" should find the dog. A small substitute
 * for embeddings, limited to topics of a personal assistant.
 */
const GROUPS = `
pet animal dog puppy cat kitten hamster rabbit bird parrot turtle fish
dog puppy pup hound
cat kitten kitty
horse pony riding
child kid son daughter baby toddler
baby newborn pregnant pregnancy birth
parent mother father mom dad mum
mother mom mum mama
father dad papa
sibling brother sister twin
grandparent grandmother grandfather grandma grandpa granny
family relative relatives aunt uncle cousin niece nephew parent
spouse husband wife partner
partner boyfriend girlfriend fiance fiancee spouse
marry married marriage wedding wed engaged engagement
divorce divorced separated separation breakup split
relationship dating date single married girlfriend boyfriend
friend friendship buddy pal mate
neighbor neighbour neighborhood
stranger meet met encounter acquainted
job work career profession occupation employed employment employer position role
hire hired recruit join
fire fired laid layoff unemployed jobless quit resign resigned
retire retired retirement pension
boss manager supervisor
colleague coworker teammate team
promote promoted promotion raise
interview apply application candidate
business company firm startup store shop
entrepreneur founder business startup
office workplace
meeting appointment call conference
project assignment task
deadline due
school college university campus academy
class course lesson lecture workshop seminar training
study student learn learning education degree major
teach teacher teaching professor instructor tutor coach mentor
exam test quiz midterm final
graduate graduation graduated diploma degree
scholarship grant
money finance financial cash funds budget savings
salary wage income pay paycheck earn
debt loan mortgage owe borrow
bank account
expensive cost price pay paid
buy bought purchase purchased shopping order ordered
sell sold selling sale
house home apartment flat condo place
rent lease landlord tenant
move moved moving relocate relocated
renovate renovation remodel repair fix fixed
furniture couch sofa table chair desk bed
kitchen stove oven fridge
garden gardening plant plants flowers vegetables
city town village
country nation abroad overseas
hometown origin native grew
live living reside residence address
travel trip vacation holiday journey tour getaway visit visited
flight plane airport fly flew airline
train railway station
hotel hostel resort accommodation stay
passport visa
beach ocean sea coast shore lake
mountain hike hiking hiked trail climb climbing
camp camping tent campfire
forest woods nature outdoors outdoor park
car vehicle truck drive driving drove
bike bicycle cycling biking ride
motorcycle motorbike
walk walking stroll
food meal dish cuisine eat ate eating
breakfast lunch dinner brunch supper
cook cooking cooked bake baked baking recipe chef
restaurant cafe diner bistro eat
dessert cake pie cookies pastry sweets chocolate cream
fruit apple banana orange berry
vegetable carrot salad broccoli
meat beef chicken pork steak
drink beverage coffee tea wine beer juice
vegetarian vegan diet
allergy allergic intolerant intolerance
sick ill illness disease flu cold fever
doctor physician hospital clinic nurse medical
dentist tooth teeth
medicine medication pill pills drug prescription
injury injured hurt accident sprained broke pain
surgery operation
health healthy fitness wellness
exercise workout gym fitness training yoga running
run running marathon race jog jogging
swim swimming pool
weight lose slim diet
sleep insomnia nap rest tired
mental therapy therapist counseling counselor psychologist
sport sports basketball football soccer baseball tennis volleyball hockey golf
game games match tournament competition
play player playing
win won victory winner champion championship trophy
award prize medal trophy recognition honor
lose lost loss defeat
team club league
fan supporter favorite
music song songs band concert singer musician artist album tune
concert gig festival show performance
instrument guitar piano violin drums flute cello saxophone clarinet
sing singing singer choir
dance dancing dancer ballet
art painting drawing sculpture artist artwork
paint painting painted painter canvas
draw drawing sketch
craft pottery ceramics knitting sewing crochet
photo photograph picture photography camera image
book novel read reading author literature
author writer wrote novelist
write writing writer wrote story poem script blog journal
poem poetry poet
movie film cinema screenplay
show series tv television episode
actor actress cast
director directed
videogame gaming gamer console
hobby pastime interest passion activity
collect collection collector
toy doll lego puzzle
volunteer volunteering charity community
charity nonprofit foundation fundraiser donate donation
help support assist aid assistance
church faith religion religious god pray prayer spiritual
politics political politician election campaign office vote
army military veteran soldier
police crime stolen theft robbed
fire burned burning
flood storm hurricane earthquake disaster
law lawyer legal court attorney
protest rally march rights activism
environment climate pollution recycling sustainable
science scientist research lab
research researching investigate explore
computer laptop pc
phone mobile cellphone smartphone
software app application program programming code
internet online website web blog
email mail letter message
password code pin
party celebration celebrate celebrated gathering
birthday born birth age
anniversary years
christmas holiday thanksgiving easter
present gift gave
tradition custom ritual
culture heritage roots
language speak fluent spanish french german english chinese
color colour red blue green yellow purple pink black white
clothes clothing outfit dress shirt jacket
shoes sneakers boots
jewelry necklace ring bracelet pendant
tattoo ink
hair haircut beard
happy glad joy joyful excited thrilled delighted
sad upset depressed unhappy heartbroken
afraid fear scared scary nervous anxious worried
stress stressed stressful overwhelmed pressure anxiety
relax relaxing relaxed calm calming peaceful unwind destress
angry mad annoyed furious
proud pride accomplished
grateful thankful appreciate
lonely alone
love loved like enjoy adore
hate dislike despise
favorite favourite fave best prefer
dream dreams goal ambition aspiration
goal aim objective plan
plan plans planning intend going
hope wish want
challenge challenging obstacle difficulty struggle hurdle setback
problem issue trouble
success successful achievement accomplishment achieve milestone
fail failed failure
inspire inspired inspiration motivate motivated motivation
encourage encouragement support motivate
symbolize represent symbol meaning stand reminder
important essential key crucial
advice advise tip tips suggestion suggest recommend recommendation
opinion think thoughts view
decide decision choose chose
begin began start started
finish finished complete completed done
attend attended went join joined
create created make made design
build built construct
receive received got
find found discover discovered
lose lost missing misplaced
bring brought carry
teach taught learn
change changed transition transform
improve improvement better progress
memory memories remember reminisce
die died death passed funeral
grief mourning loss
weather rain snow sunny storm
winter snow cold
summer sun hot
night evening tonight
morning dawn sunrise
sunset dusk
weekend saturday sunday
name named called nickname
age old years
number digits
size big large small
key keys lock
wallet purse bag
glasses lenses eyewear
garage parking parked
trash garbage rubbish recycling
electricity power utility bill
insurance policy coverage
tax taxes irs
subscription membership member
`

/** Stems of the same topics, without the word's own stem. */
export function createRelatedWords(): (stem: string) => readonly string[] {
  const related = new Map<string, Set<string>>()
  for (const line of GROUPS.trim().split('\n')) {
    const stems = line.split(' ').map(stemOf)
    for (const stem of stems) {
      const others = related.get(stem) ?? new Set()
      for (const other of stems) if (other !== stem) others.add(other)
      related.set(stem, others)
    }
  }
  const none: readonly string[] = []
  return (stem) => [...(related.get(stem) ?? none)]
}
