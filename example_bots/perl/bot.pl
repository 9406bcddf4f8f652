#!/usr/bin/env perl
# A Hearts bot that ducks: it tries to lose every trick, and throws its worst cards while it does.
#
# It reads one JSON object per line on stdin and answers each request with one line on stdout.
# Each request carries all that the seat may know, so the bot remembers nothing between lines.
#
# Run it with `perl bot.pl`. JSON::PP and List::Util come with Perl.

use strict;
use warnings;

use JSON::PP ();
use List::Util qw(max reduce);

$| = 1;    # every answer leaves at once

my $json = JSON::PP->new->canonical;

sub rank { index '23456789TJQKA', substr $_[0], 0, 1 }
sub suit { substr $_[0], 1, 1 }

# How gladly a card is thrown away: the queen of spades, then hearts from the top, then high cards.
sub danger {
    my ($card) = @_;
    return 200 if $card eq 'QS';
    return suit($card) eq 'H' ? 100 + rank($card) : rank($card);
}

# How gladly a card is passed: the queen of spades, the spades above her, then high cards.
sub pass_danger {
    my ($card) = @_;
    return 200 if $card eq 'QS';
    return $card =~ /^[KA]S$/ ? 100 + rank($card) : rank($card);
}

sub choose_pass {
    my ($request) = @_;
    my @cards = sort { pass_danger($b) <=> pass_danger($a) } @{ $request->{cards} };
    return [ @cards[ 0 .. $request->{count} - 1 ] ];
}

sub choose_play {
    my ($request) = @_;
    my @legal = @{ $request->{legal} };
    my @trick = @{ $request->{trick} };
    return reduce { rank($b) < rank($a) ? $b : $a } @legal unless @trick;

    my $led    = suit( $trick[0] );
    my $best   = max map { rank($_) } grep { suit($_) eq $led } @trick;
    my @losers = grep { suit($_) ne $led || rank($_) < $best } @legal;
    return reduce { danger($b) > danger($a) ? $b : $a } @losers if @losers;
    return reduce { danger($b) < danger($a) ? $b : $a } @legal;
}

my %answer_to = (
    start => sub { ( type => 'ready', name => 'duck-perl', version => '1', tables => 64 ) },
    pass  => sub { ( type => 'pass', cards => choose_pass(@_) ) },
    play  => sub { ( type => 'play', card => choose_play(@_) ) },
);

while ( my $line = <STDIN> ) {
    my $message = $json->decode($line);
    my $answer  = $answer_to{ $message->{type} } or next;   # a notice, or a type we do not know
    print $json->encode( { id => $message->{id}, $answer->($message) } ), "\n";
}
