<?php
// Signs the user in REMOTE_USER in to MediaWiki, and creates the account at the first visit. LocalSettings.php includes
// this file.
use MediaWiki\MediaWikiServices;
use MediaWiki\Session\ImmutableSessionProviderWithCookie;
use MediaWiki\Session\SessionInfo;
use MediaWiki\Session\UserInfo;
use MediaWiki\User\UserNameUtils;

class RemoteUser extends ImmutableSessionProviderWithCookie {
	public function __construct() {
		parent::__construct( [ 'sessionCookieName' => '_session' ] );
	}

	public function provideSessionInfo( WebRequest $request ) {
		$name = MediaWikiServices::getInstance()->getUserNameUtils()
			->getCanonical( $_SERVER['REMOTE_USER'] ?? '', UserNameUtils::RIGOR_CREATABLE );
		if ( $name === false ) {
			return null;
		}
		$id = $this->getSessionIdFromCookie( $request );
		return new SessionInfo( SessionInfo::MAX_PRIORITY, [
			'provider' => $this, 'id' => $id, 'persisted' => $id !== null, 'forceUse' => true,
			'userInfo' => UserInfo::newFromName( $name, true ),
		] );
	}
}

$wgSessionProviders[RemoteUser::class] = [ 'class' => RemoteUser::class ];
// Accounts are created only in this way.
$wgGroupPermissions['*']['autocreateaccount'] = true;
$wgGroupPermissions['*']['createaccount'] = false;
$wgGroupPermissions['*']['edit'] = false;
