"""The words that names of harmless long options are made of.

Rule 1: a word stands here if no name of an option that has it runs, loads, deletes, sends or
shows anything by it. `exec`, `hook`, `plugin`, `require`, `load`, `editor`, `publish`, `upload`,
`delete`, `reset`, `clear`, `force`, `token`, `key`, `host` and `remote` do, so they are not here.
Rule 2: a whole name that has such a word, and is harmless all the same, is one of NAMES.
"""

# What is built, tested, checked and printed, how much of it and in which form.
WORDS = frozenset(
    """
    a abbrev abbreviated abi able abort above absolute accept access accurate across
    action activate active actual add added addition adjacent adjust affect affected
    affects after again against age aggregate aggressive ahead algorithm alias align
    aligned alive all allow allure alluredir also alternative always amd64 amend amount
    analysis analyze analyzer ancestor ancestry and android angle annotate annotation
    annotations anonymous ansi any anyio apcu api app append application approx apps
    arbitrary arch archive archived arg args arguments argv arm64 arn around array arrow
    artifact artifacts as asc ascii assert asset assets assign assignee associated
    assume assumes async asyncio at atomic attach attempts attribute attributes audience
    audit author authoritative authors auto autocorrect autofix autogenerate autosquash
    autostash available average away
    back backend backoff backtrace bad badge bail balance banner bar bare base baseline
    bases bash basic batch be before behind bench benches benchmark benchmarks best
    better beyond bg big bin binary bins bisect bitrate black blame blank blanks block
    blocking blocks body bold bom bool both bottom bound boundary bounded bounds bracket
    brackets branch branches break brief bright broken brotli browser browsers bs bucket
    buffer buffered bug build builddir builder buildkit builds buildtype builtin
    builtins bump bundle bundler bundles bundling by byte bytecode bytes
    c cache cached caches calc calculate calls can canonical capacity caps capture case
    casing casts catch category cc cdup ceiling center central cflags chain change
    changed changedsince changelog changes channel char character characters chars
    charset chart check checker checkers checkout checkpoint checks checkstyle checksum
    cherry children choose chrome chromium chunk ci circular cjs clang class classes
    classmap classname cleanup cli client clients clip close closed closest clover cls
    cluster clusters cmake cname coalesce cobertura code codeclimate codes col collapse
    collect collectcoverage collectcoveragefrom collection color colored colors colour
    colours column columns combination combine combined comma comments commit commits
    committer common compact compare comparison compat compatible compile compiled
    compiler complete completion complexity compliance component components composite
    compress compression concat concise concurrency concurrent condition conditions
    confcut confidence config configs configuration configurations conflict conflicting
    conflicts conftest connections conservative consider consistent console const
    constraint constraints consume contain contained container containers contains
    content contents context contexts continue contrast control controller conventional
    convert cop copies cops copy core corner correct cors count counts cov cover
    coverage coveragereporters cpp cpu cpus cr crds create created creation crop cross
    csharp css csv cuda cumulative currency current curve cut cwd cycle cycles
    daemon dangling dark dart darwin data date dates day days db dd deadline debounce
    debug debugger decimal decl declaration declarations decode decorate decorated
    decoration decorations decorator decorators decrease dedupe deduplicate deep deepen
    def default defaults deferred define defined definition definitions defs degree
    delay deleted delim delimiter demand denied density deny dependencies dependency
    dependents depends deployed deprecated deprecation deprecations deps depth deref
    derivative desc descending describe description descriptor deselect desktop dest
    destination detach detached detail detailed details detect detection
    detectopenhandles deterministic dev development device devices devtool diag
    diagnostic diagnostics diagram dialect dialects diff difference different digest
    digests digits dimension dimensions dir direct direction directives directly
    directories directory dirs dirstat dirty dirtyreload disable disabled disallow
    discover disk display dissociate dist distance distinct divide division dn doc docs
    docstring docstrings doctest doctests document documentation documents dom domain
    done dot dotall dotfiles double down downlevel downloads dpi draft drafts driver dry
    dryrun ds dsn dts dump duplicate duplicated duplicates duration durations dynamic
    e2e each eager early ec edge edges edit edition editorconfig effects effort elapsed
    elements elixir ellipsis else embed emit emitted emoji empty emulator enable enabled
    encode encoding end ending endings enforce enhanced enough ensure entire entity
    entry entrypoint enum enums env environment environments eol epoch epochs equal
    equality erasable err error errorlogs errors es escape eslint eslintrc esm estimate
    even evenly event events every exact example examples except exception exceptions
    exclude excluded exclusive exhaustive exist existing exists exit exitcode exitfirst
    expand expanded expect expected expensive experimental expires explain explicit
    exponent export exports expr expression expressions exprs ext extend extended
    extension extensions extra extract extras
    factor factorial factory fail failed failfast failing fails failsafe failure
    failures fair fake fallback false family fast fatal favor fd feature features fetch
    few ff fg field fields file filelimit filename filenames filepath files filesystem
    fill filter filtered filters final find finder findings finished finite firefox
    first fit fix fixable fixed fixes fixture fixtures fixup flag flags flake8 flaky
    flat flatten flavor flip float flow fold folder folders follow font footer for
    foreground fork forked format formats formatted formatter found fps frac fraction
    fragment frame frames framework free freeze freq frequency fresh freshness from
    front frozen fs full fullmatch fully func funcargs function functions fund future
    fuzz fuzzy
    gap gas gate gateway gc gen general generate generated generator generics get git
    github gitignore gitlab given glob global globals globs go goal going golden goldens
    good gpu graceful gradient gradle grammar graph graphql graphviz green grep grid
    group grouped groups grow growth grpc gte guard guess gzip gzipped
    h half handle handles hang hard harder hardlinks hash hashes hdr head headed header
    headers heading headless heads heap height help helpers here hex hf hidden hide
    highlight hint hints histogram history hit hoist hold home hop horizontal hosted hot
    hour hours html htmlcov http human hunk hunks hyperlink hyperlinks hypothesis
    i icase icon icons id ideal idempotent identical identifier identifiers identity
    idioms idle ids if ignore ignorecase ignored ignoreexternal ignorefile ignores ilike
    image images immediate immutable impact implementation implicit imported importing
    imports in inaccurate include included includes incompat incomplete inconclusive
    increase incremental indent indentation index indexed indicate indicator individual
    inexact inf infer inference info infos inherit inherited init initial inline inlined
    inner inplace input inputs ins insensitive insert inside insight inspect instafail
    install installed instance instances instantiations instrument int integration
    intensity intent inter interaction interactive intercept interdiff interface
    interleave intermediate internal interop interpolate interval into invalid inverse
    invert inverted invisible invokable ios ipv4 ipv6 is isatty iso isolate isolated
    isolation isort issue issues ita item items iter iteration iterations iters
    jacoco java javadoc javascript jitter job jobs join jq jsdom json jsonl jsx junit junit5
    junitfile junitxml just
    keep killed kind kinds known kotlin kustomize
    l label labels lang language languages large last late latest launch layer layers
    layout lazy lcov leading leaf leaks learning leave left legacy legal length lenient
    less letter letters level levels lf lfnf lib libraries library libs license licenses
    lifespan light like likely limit limits line linear linecount linecoverage
    lineprecision lines link links lint linter linters linting lints linux list listed
    listfiles listing listtests lite literal live livereload loadscope local locale
    locales locals localstorage location lock locked lockfile locks log logfile logger
    logging logical loglevel logs long longest lookup loop looponfail loops loose lossy
    low lower lowest lr lsp lte lts
    machine macos mailmap main mainline maintain maintenance major make managed manager
    mangle mangling manifest manual map maps margin mark markdown markers markup mask
    match matched matches matching matrix maven max maxfail maximum maxprocesses
    maxschedchunk maxworkers md md5 mean measure median mem members memory mention merge
    merged merges message messages meta metadata metafile method metric metrics micro
    mid middle migration migrations milestone millis milliseconds min mine minified
    minify minimal minimize minimum minor minutes missing mixed mjs mobile mode model
    models modern modified modifier modulate module modules modulo moment monitor mono
    month more most motif moved ms msg multi multiline multiple must mypy myst
    n name named names namespace namespaced namespaces nanoseconds native natural nav
    nbmake ndjson nearest neat needed needs negotiate negotiation neighbor nested net
    never new newer newest newline newlines next nf nil nitpicky no nocache nocapture
    noconftest node noemit noinput noise nologo nomigrations non none noop noplot noqa
    norc noreload normal normalize normalized nostats not note notes notest nothing
    nothreading notice notifier nrows nul null nullable nullish num number numbered
    numbers numeric numprocesses numstat nx nyc
    obfuscate objc object objects occurrences odd off offenses offline offset ok old
    older oldest omit on once one oneline only onto opacity opcache openapi openapiv2
    operator opt optimistic optimization optimize optimized optional options opts or
    order ordered ordering orientation orig origin original orphan orphans os osx other
    others ours out outbase outdated outdir outer outfile outliers outline outoforder
    output outputfile outputjson outputs over overall overlap overview own owner owners
    package packagename packages pad padding page pages paginate pagination paging pair
    pairs pan panic parallel parallelism parameters paranoid parens parent parents parse
    parseable parser part partial partition partitions pass passed passes passive
    passthrough past patch path paths pathspec patience pattern patterns pause pct pdb
    peak peer pep per percent percentage percentiles perf performance period perl
    persistent phase php pick pickaxe picked pin pinned pip pitest pivot pixel pkg pkgs
    place plain plan plane platform platforms playbook plot plus point points policy
    poll polling pool pop populate porcelain port ports position positions posix
    powerset pr pre precise precision prefer preferred prefetch prefix prepare
    prerelease prereleases present preserve preservewatchoutput preset presets pretend
    pretty preview previous primary print printer prio priority private process
    processes prod product production profile profiles profiling progress progressive
    project projects prompt properties property props prose proto proto3 protocol
    provenance provider providers prs pub public published pull pulls pure py pyi python
    pyver
    qps quality quarkus quarter queries query queue quick quiet quit quote quotechar
    quoted quotes
    r race radius raise rampup rand random randomize randomly range ranges rank ranked
    rate ratio raw rcfile re reached react read readable readme readonly reads ready
    real reapply reason rebase rebuild rec recent recipe recipes recommend recommended
    recommends reconfigure recount recreate recurse recursion recursive recursively red
    redact redefinition redirects reduce redundant reedit reexport ref reference
    references refetch reflog reflogs refresh refs regenerate regex regexp region
    regression reject rel related relations relationships relative relaxed release
    releases relevant reload relocatable remainder remaining remotes renames render
    renormalize reorder repeat repeats replace replacement replay repo report reporter
    reporters reporting reports repository req reqs request requests required
    requirement requirements rerun reruns resample reserve resize resolution resolve
    resolved resolvemsg resource resources respect responses rest restart restarts
    restore result results resume retain retries retry return reuse rev reverse reversed
    review reviewer reviewers revision revisions rewrite rfc right risky robust role
    roles root roots rough round rounding router rows rps rst ruby ruff rule rules
    ruleset rulesets rulesfile run runinband runs runslow runtime runxfail rust
    s safe same sample samples sampling sandbox sanitize sanitizer sanitizers sarif sass
    save sbom scale scan scanner scanners schedule scheduled schema schemas scheme
    scissors scope scopes score screen screenshot screenshots sdist sdk sdks search
    second seconds section sections seed select selected selection selector selectors
    self semantic semi semver sensitive sep separate separator sequence sequencer
    sequential serial serve service services session set setup severities severity sha
    sha1 sha256 shake shaking shallow shamefully shape shard shards shared sharp sheet
    shift shm short shorten shortstat show showconfig showlocals shrink shuffle sibling
    siblings side signal signature signatures signoff silent similar similarity simple
    simplified simplify simulate simulation simulator since single site sitemap size
    sizes skew skip skipped skiprows skips slice slope slow slowest slowmo small smart
    snapshot snapshots soft solution some sort sorted sorting source sourcefile
    sourcemap sourcemaps sources space spaces span sparse speaker spec specs speed
    specified spellcheck spinner splice split splits splitting spotbugs spotless spread spring
    springboot sq sql sqlite square squash squeeze src ssl ssr stable stack stacktrace
    stage staged stale standalone standard start starts startup stash stat state states
    static statistics stats status statuses std stderr stdin stdout step steps stepwise
    stereo stop storage store story str strategy stream stress stretch strict strictness
    stride string strings strip structure structured stub stubs style styles stylish sub
    subcharts subclassing subdir subject submodule submodules subresource subscription
    subscriptions subset success suffix suffixes suggest suggestions suite suites sum
    summarize summary super superproject suppress suppressed surefire svg sw swap swc
    swift switch symbol symbolic symbols symlink symlinks symref sync syncdb synchronous
    syntax synthetic sys system systems
    t tab table tables tabs tag tagged tags tail tailwind tall tap target targets task
    tasks tb tcl team tech temp temperature template templates temporary term terminal
    terse test testdox testing testlocationresults testmon testnamepattern testng
    testpathpattern testpathpatterns tests testsuite testsuites text than theirs theme
    then thin this thread threads threshold thresholds throughput ticks tidy time timed
    timeout timeouts timer times timestamp timestamps timezone timing timings tiny tip
    title tmp to toc today toggle tolerance tone tool toolchain tools toolset top topic
    toplevel topo tops total totals touch trace traceback tracebacks traceresolution
    tracing track tracked traffic trailer trailers trailing transfer transform
    transitive transitively translate traverse treat tree trees treeshake treeshaking
    trend trim triple true trunc truncated trycompile ts tsc tsconfig tsv tty turbo
    turbopack twice two txt type typecheck typed types typescript typing
    ui umbrella umd unchanged unchecked undefined under undirected undo unfixable
    unfixed unformatted unicode unidiff unified uniform unimported uninitialized union
    unique unit units universal unknown unlimited unmatch unmatched unmerged unnecessary
    unordered unpacked unpublished unreachable unreleased unresolved unsafe unset
    unshallow unsorted unstable unstaged until untracked untyped unused up update
    updated updates upgrade upgrades upper upstream uptodate uri url usage use used
    useful user users using utf utf8 uv
    v v2 valid validate validation value values var variable variables variant vars vcr
    vcs vendor vendored verbatim verbose verbosity verbs verified verify verifying
    verifytypes version versions vertical via video view viewer viewport violation
    violations virtualenv visibility visible visual visualize vm voice volume volumes
    vuln vulnerabilities vulnerability vulns
    w wait walk wall wanted warm warmup warn warning warnings warnlevel wasm wasm32
    watch watchall watcher watchman web webkit week weight weighted weights werror wheel
    when where which while whitespace whole why width wild wildcard wildcards window
    windows with within without word words work workdir worker workers workflow working
    workspace workspaces worktree writable write written ws
    x x64 x86 xdist xfail xml xslt xunit
    yaml year years yes yml
    zero zip zone zoom
    """.split()  # noqa: SIM905  # a list of words is read as one
)

# Whole names with a word that is dangerous in others.
NAMES = frozenset(
    """
    allow-unrelated-histories allowjs apcu-autoloader apply auto-wrap autoloader
    block-network
    cache-clear checkjs chmod clean-first clean-tables clear-decorations clearmocks
    clearscreen config-settings
    delete-conditions delete-conflicting-outputs
    editable engine-strict engines-strict exec-time external
    forbid-only forbidonly force force-color force-confold force-exclude force-exclusion
    force-exit force-grid-wrap force-reinstall force-rm force-short-summary
    force-single-line force-sort-within-sections forceconsistentcasinginfilenames forceexit
    foreground-scripts
    gpg-sign
    hook-type
    import-mode install-hooks
    js_opt js_out jsx-import-source jsximportsource
    keepdb key-only keys-only known-first-party
    mirror
    network-concurrency network-timeout noclearscreen
    open optimize-autoloader
    param passwithnotests primary-key prose-wrap proxy-headers prune prune-empty-dirs
    prune-tags
    reinstall relative-urls remote-name remove-all-unused-imports remove-duplicate-keys
    remove-empty remove-unused remove-unused-imports remove-unused-variables removecomments
    require-hashes reset-author reset-mocks resetmocks resetmodules restoremocks
    root-user-action run-in-band run-many
    server-print server-side shellcheck strictbindcallapply
    unhandled-rejections updatesnapshot use-bun use-npm use-pep517 use-pnpm use-yarn
    verify-signatures
    warn-script-location with-editable wrap-comments wrap-descriptions wrap-lines
    wrap-summaries
    """.split()  # noqa: SIM905  # a list of words is read as one
)
